import { checkOptions } from "@sluice/link-store/link-options-schema.ts";
import { expect, test } from "vitest";

import { formatRule, parseRule } from "./rule-text.ts";

test.each([
  [
    "country=de,AT device=Mobile -> https://example.com/a?b=c-%3Ed",
    {
      countries: ["DE", "AT"],
      devices: ["mobile"],
      destination: "https://example.com/a?b=c-%3Ed",
    },
  ],
  [
    "region=us-ca os=iOS language=de,pt-BR -> https://example.com/",
    { regions: ["US-CA"], systems: ["ios"], languages: ["de", "pt-br"], destination: "https://example.com/" },
  ],
  [
    "time=22:00-06:00 zone=Europe/Berlin days=Mon,sun->https://example.com/",
    {
      times: { zone: "Europe/Berlin", from: "22:00", to: "06:00", days: [1, 7] },
      destination: "https://example.com/",
    },
  ],
])("%s is understood, and written so that it is understood again", (text, rule) => {
  expect(parseRule(text)).toEqual(rule);
  const [checked] = checkOptions({ rules: [parseRule(text)] }).rules ?? [];
  expect(checked).toEqual(rule);
  expect(checked && parseRule(formatRule(checked))).toEqual(rule);
});

test.each([
  "",
  "country=DE",
  "country=DE ->",
  "country=DE https://example.com/",
  "DE -> https://example.com/",
  "country= -> https://example.com/",
  "planet=earth -> https://example.com/",
  "country=DE country=AT -> https://example.com/",
])("%j is refused with an example", (text) => {
  expect(() => parseRule(text)).toThrow(/^takes conditions and a destination, such as /);
});

test.each([
  [
    "days=mon -> https://example.com/",
    "rules[0].times.zone takes a time zone such as Europe/Berlin; got nothing",
  ],
  [
    "time=8-18 zone=UTC -> https://example.com/",
    'rules[0].times.from takes a time of day, 00:00 to 23:59; got "8"',
  ],
  [
    "time=08:00-18:00 zone=UTC days=monday -> https://example.com/",
    "rules[0].times.days[0] takes a whole number from 1 to 7; got 0",
  ],
])("what is wrong in %s is said by the link store", (text, message) => {
  expect(() => checkOptions({ rules: [parseRule(text)] })).toThrow(message);
});
