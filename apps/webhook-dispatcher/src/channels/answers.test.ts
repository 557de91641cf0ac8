import { expect, test } from "vitest";
import { tellable } from "./answers.ts";

test("a secret is not told in any form that an answer may repeat it in", () => {
  const secret = "p@ss|w rd";
  const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64")];
  expect(tellable(forms.join(" and "), { secrets: [secret] })).toBe("*** and *** and ***");
});

test("a secret is not told in part where what is told is cut", () => {
  const secret = "s".repeat(50);
  expect(tellable(`${"x".repeat(180)}${secret}`, { secrets: [secret] })).toBe(`${"x".repeat(180)}***`);
});
