import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkOptions, readOptions } from "./link-options-schema.ts";
import type { LinkOptions } from "./link-options.ts";

const destination = "https://example.com/";
const variant = { destination, weight: 1 };

/** Every part there is. */
const full: LinkOptions = {
  startsAt: 1_900_000_000_000,
  maxClicks: 100,
  passwordHash: `$scrypt$ln=14,r=8,p=1$${"s".repeat(22)}$${"h".repeat(43)}`,
  rules: [
    {
      countries: ["DE", "AT"],
      regions: ["US-CA"],
      devices: ["mobile", "tablet"],
      systems: ["ios"],
      languages: ["de", "pt-br"],
      times: { zone: "Europe/Berlin", days: [1, 7], from: "22:00", to: "06:00" },
      destination,
    },
  ],
  variants: [variant, { destination: "https://example.org/%20?q=%23", weight: 1_000 }],
  apps: { ios: "fb://profile/33138223345", android: "market://details?id=a.b" },
  passQuery: true,
  utm: { source: "news", medium: "e-mail", campaign: "x y", term: "ü", content: "1" },
  noindex: true,
  trackConversions: true,
};

describe("options", () => {
  test("are taken as they are, all of them or none", () => {
    expect(checkOptions(full)).toEqual(full);
    expect(checkOptions({})).toEqual({});
  });

  test.each([
    [{ startsAt: 0 }, "startsAt takes milliseconds since 1970; got 0"],
    [{ startsAt: "tomorrow" }, 'startsAt takes milliseconds since 1970; got "tomorrow"'],
    [{ maxClicks: 0 }, "maxClicks takes a whole number from 1 to 1000000000; got 0"],
    [{ maxClicks: 1.5 }, "maxClicks takes a whole number from 1 to 1000000000; got 1.5"],
    [{ passwordHash: "hunter2" }, 'passwordHash takes what hashPassword gives; got "hunter2"'],
    [{ rules: [] }, "rules takes 1 to 50 rules; got []"],
    [{ rules: Array.from({ length: 51 }, () => full.rules?.[0]) }, /^rules takes 1 to 50 rules; got \[/],
    [{ rules: [{ destination }] }, /^rules\[0\] takes at least one condition besides the destination; got /],
    [
      rule({ countries: ["UK"] }),
      /^rules\[0\]\.countries\[0\] takes .*\(GB for the United Kingdom\); got "UK"$/,
    ],
    [rule({ countries: ["de"] }), /^rules\[0\]\.countries\[0\] takes two capital letters .*; got "de"$/],
    [rule({ countries: [] }), "rules[0].countries takes 1 to 250 countries; got []"],
    [
      rule({ regions: ["Bavaria"] }),
      'rules[0].regions[0] takes a code of ISO 3166-2 such as US-CA; got "Bavaria"',
    ],
    [rule({ devices: ["phone"] }), 'rules[0].devices[0] takes one of desktop, mobile, tablet; got "phone"'],
    [rule({ systems: ["iOS"] }), /^rules\[0\]\.systems\[0\] takes one of android, .*; got "iOS"$/],
    [
      rule({ languages: ["de-DE"] }),
      /^rules\[0\]\.languages\[0\] takes a language in lower case .*; got "de-DE"$/,
    ],
    [rule({ destination: "x.y" }), /^rules\[0\]\.destination takes an absolute URL, .*; got "x\.y"$/],
    [rule({ continents: ["EU"] }), /^rules\[0\] takes countries, regions, .*; got /],
    [window({ zone: "Berlin" }), 'rules[0].times.zone takes a time zone such as Europe/Berlin; got "Berlin"'],
    [window({ zone: "+01:00" }), /^rules\[0\]\.times\.zone takes /],
    [window({ from: "24:00" }), 'rules[0].times.from takes a time of day, 00:00 to 23:59; got "24:00"'],
    [window({ days: [0] }), "rules[0].times.days[0] takes a whole number from 1 to 7; got 0"],
    [{ variants: [variant] }, /^variants takes 2 to 20 variants; got \[/],
    [{ variants: Array.from({ length: 21 }, () => variant) }, /^variants takes 2 to 20 variants; got \[/],
    [
      { variants: [variant, { destination, weight: 0 }] },
      "variants[1].weight takes a whole number from 1 to 1000; got 0",
    ],
    [{ apps: {} }, "apps takes ios, android or both; got {}"],
    [
      { apps: { ios: "data:text/html,x" } },
      /^apps\.ios takes one of the schemes .*; got "data:text\/html,x"$/,
    ],
    [{ passQuery: false }, "passQuery takes true, or nothing; got false"],
    [{ utm: {} }, "utm takes at least one of source, medium, campaign, term and content; got {}"],
    [{ utm: { source: "" } }, 'utm.source takes 1 to 256 characters without control characters; got ""'],
    [{ utm: { source: "a\nb" } }, /^utm\.source takes /],
    [{ colour: "red" }, 'a link takes options that this version knows; got {"colour":"red"}'],
  ])("%j are refused with field, rule and value", (options, message) => {
    expect(() => checkOptions(options)).toThrow(message);
  });
});

describe("options read back", () => {
  test("are what was stored", () => {
    expect(readOptions({ ...full })).toEqual({ options: full, refused: [] });
  });

  test("go on without those that cannot be read", () => {
    const stored = { ...full, rules: [{ countries: ["DE"] }], colour: "red" };
    const { rules: _rules, ...others } = full;
    expect(readOptions(stored)).toEqual({ options: others, refused: ["rules", "colour"] });
  });

  test("are taken or named, whatever stands there", () => {
    const names = fc.constantFrom(...Object.keys(full), "colour", "__proto__");
    const values = fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values<unknown>({ ...full })));
    fc.assert(
      fc.property(fc.dictionary(names, values), (stored) => {
        const { options, refused } = readOptions(stored);
        const left = Object.keys(options).filter(
          (name) => options.passwordHash !== "unreadable" || name !== "passwordHash",
        );
        expect([...left, ...refused].toSorted()).toEqual(Object.keys(stored).toSorted());
      }),
      { numRuns: 500 },
    );
  });

  test("ask for a password that nobody knows when it cannot be read", () => {
    const { options, refused } = readOptions({ passwordHash: 5, noindex: true });
    expect(options).toEqual({ passwordHash: "unreadable", noindex: true });
    expect(refused).toEqual(["passwordHash"]);
  });
});

function rule(part: object): object {
  return { rules: [{ countries: ["DE"], destination, ...part }] };
}

function window(part: object): object {
  return rule({ times: { zone: "Europe/Berlin", from: "08:00", to: "18:00", ...part } });
}
