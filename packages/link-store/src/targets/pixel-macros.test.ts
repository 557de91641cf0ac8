import { expect, test } from "vitest";
import { pixelMacros, templateProblem } from "./pixel-macros.ts";

test("every known macro may stand in path, query and fragment", () => {
  for (const name of pixelMacros) {
    expect(
      templateProblem(`https://a.example/{${name}}?x={${name}}&y={${name}}{${name}}#{${name}}`),
    ).toBeUndefined();
  }
  expect(templateProblem("https://a.example")).toBeUndefined();
});

test.each([
  ["https://a.example/?x={cookie}", /^a URL whose macros are among \{event_id\}/],
  ["https://a.example/?x={}", /among/],
  ["https://a.example/?x={Click_ID}", /among/],
  ["https://a.example/?x={ click_id }", /among/],
  ["https://a.example/?x={click_id", /closing brace/],
  ["https://a.example/?x=click_id}", /closing brace/],
  ["https://a.example/?x={{click_id}}", /closing brace/],
  ["{domain}://a.example/", /host without macros/],
  ["https://{domain}/", /host without macros/],
  ["https://a.{domain}?x", /host without macros/],
  ["https://a.example:{link_id}/", /host without macros/],
  ["https://{slug}@a.example/", /host without macros/],
  ["https:\\\\{domain}\\x", /host without macros/],
  ["https:/{domain}/", /host without macros/],
  ["https:{domain}/", /host without macros/],
  ["https:///{domain}/", /host without macros/],
  [" https://{domain}/", /host without macros/],
  ["https://a.example\\{domain}", /host without macros/],
  ["https://a.example\t{domain}/", /host without macros/],
  ["ht\ntps://{domain}/", /host without macros/],
  ["ftp://a.example/{slug}", /host without macros/],
  ["{destination}", /host without macros/],
])("%s is refused", (text, problem) => {
  expect(templateProblem(text)).toMatch(problem);
});
