import { expect, test } from "vitest";

import { errorLine, maskFields, maskText } from "./mask.ts";
import { ServiceError } from "./service-error.ts";

test("passwords in URLs are hidden, whatever characters they have; user and host stay", () => {
  expect(maskText("redis://:hunter2@r:6379/0")).toBe("redis://:***@r:6379/0");
  expect(maskText("no postgres://me:hun/t@er2@db:5432/x today")).toBe("no postgres://me:***@db:5432/x today");
  expect(maskText("kafka://a:9092,b:9092 and http://host:80/path")).toBe(
    "kafka://a:9092,b:9092 and http://host:80/path",
  );
  expect(maskText("https://x/?a=1&api_key=hunter2&b=2")).toBe("https://x/?a=1&api_key=***&b=2");
});

test("a hostile text is masked in linear time", () => {
  const from = performance.now();
  maskText("//a:".repeat(50_000));
  expect(performance.now() - from).toBeLessThan(2000);
});

test("fields named for a secret are hidden, at any depth", () => {
  expect(
    maskFields({
      password: "x",
      nested: [{ apiKey: "x", "X-Api-Key": "x", INGEST_TOKEN: 1 }],
      rows: 3,
      none: null,
    }),
  ).toEqual({
    password: "***",
    nested: [{ apiKey: "***", "X-Api-Key": "***", INGEST_TOKEN: "***" }],
    rows: 3,
    none: null,
  });
});

test("an error is logged with its causes, and without what a driver hangs on it", () => {
  const error = Object.assign(new Error("insert", { cause: new Error("redis://u:hunter2@r is away") }), {
    code: "23505",
    detail: "Key (slug)=(private) already exists",
  });
  const logged = JSON.stringify(maskFields({ error }));
  expect(logged).toContain("23505");
  expect(logged).toContain("redis://u:***@r is away");
  expect(logged).not.toContain("private");
  expect(maskFields({ error: new ServiceError("config", "said in full") })).toEqual({
    error: { name: "ServiceError", message: "said in full", code: "config" },
  });
});

test("a circle ends", () => {
  const circle: Record<string, unknown> = {};
  circle["again"] = circle;
  expect(JSON.stringify(maskFields({ circle }))).toContain("…");
});

test("one line about anything thrown: causes, several addresses, no error at all", () => {
  const refused = new AggregateError([new Error("refused ::1"), new Error("refused 127.0.0.1")], "");
  expect(errorLine(new Error("not reachable", { cause: refused }))).toBe(
    "not reachable: refused ::1, refused 127.0.0.1",
  );
  expect(errorLine(new Error("a: b", { cause: new Error("b") }))).toBe("a: b");
  expect(errorLine("just text")).toBe("just text");
  expect(errorLine({ odd: 1 })).toBe("{ odd: 1 }");
});
