import type { LinkOptions, TargetRule } from "@sluice/link-store/link-options.ts";
import { describe, expect, it } from "vitest";

import { compileChoice, type Way } from "./choose.ts";
import type { Equipment } from "./equipment.ts";
import type { VisitFacts } from "./target-rule.ts";

interface Visitor extends Partial<Equipment> {
  readonly country?: string;
  readonly region?: string;
  readonly language?: string;
  readonly lot?: number;
  readonly now?: number;
}

/** Notes in `asked` what was asked for. */
function facts(visitor: Visitor, asked: string[] = []): VisitFacts {
  const { country = "", region = "", language = "", lot = 0, now = 0, device, system } = visitor;
  const noting = <Fact>(name: string, fact: Fact): (() => Fact) => {
    return () => {
      asked.push(name);
      return fact;
    };
  };
  return {
    now,
    place: noting("place", { country, region }),
    equipment: noting("equipment", { device, system }),
    language: noting("language", language),
    lot: noting("lot", lot),
  };
}

function choose(options: LinkOptions, visitor: Visitor, asked?: string[]): Way {
  const link = { destination: "https://example.com/usual", ...options };
  return compileChoice(link, (way) => way)(facts(visitor, asked));
}

const to = (name: string): string => `https://example.com/${name}`;

describe("a rule", () => {
  it.each<[Omit<TargetRule, "destination">, Visitor, boolean]>([
    [{ countries: ["DE", "AT"] }, { country: "AT" }, true],
    [{ countries: ["DE", "AT"] }, { country: "CH" }, false],
    [{ countries: ["DE"] }, {}, false],
    [{ regions: ["US-CA"] }, { country: "US", region: "CA" }, true],
    [{ regions: ["US-CA"] }, { country: "ES", region: "CA" }, false],
    [{ regions: ["US-CA"] }, {}, false],
    [{ devices: ["mobile", "tablet"] }, { device: "tablet" }, true],
    [{ devices: ["mobile"] }, { device: "desktop" }, false],
    [{ devices: ["desktop"] }, {}, false],
    [{ systems: ["ios"] }, { system: "ios" }, true],
    [{ systems: ["ios"] }, {}, false],
    [{ languages: ["de"] }, { language: "de-at" }, true],
    [{ languages: ["de"] }, { language: "de" }, true],
    [{ languages: ["de"] }, { language: "den" }, false],
    [{ languages: ["pt-br"] }, { language: "pt-br" }, true],
    [{ languages: ["pt-br"] }, { language: "pt" }, false],
    [{ languages: ["pt-br"] }, { language: "pt-pt" }, false],
    [{ times: { zone: "UTC", from: "00:00", to: "01:00" } }, { now: 60_000 }, true],
    [{ times: { zone: "UTC", from: "00:00", to: "01:00" } }, { now: 3_600_000 }, false],
    [{ countries: ["DE"], devices: ["mobile"] }, { country: "DE", device: "mobile" }, true],
    [{ countries: ["DE"], devices: ["mobile"] }, { country: "DE", device: "desktop" }, false],
    [{}, {}, false],
  ])("for %j with a visitor of %j: %s", (rule, visitor, fits) => {
    const way = choose({ rules: [{ ...rule, destination: to("rule") }] }, visitor);
    expect(way).toEqual({
      destination: fits ? to("rule") : to("usual"),
      variant: 0,
      triesApp: !fits,
    });
  });

  it("that fits first is taken, before any variant", () => {
    const options: LinkOptions = {
      rules: [
        { countries: ["DE"], destination: to("de") },
        { devices: ["mobile"], destination: to("mobile") },
        { countries: ["FR"], destination: to("fr") },
      ],
      variants: [
        { destination: to("a"), weight: 1 },
        { destination: to("b"), weight: 1 },
      ],
    };
    expect(choose(options, { country: "FR", device: "mobile" }).destination).toBe(to("mobile"));
    expect(choose(options, { country: "FR", device: "desktop" }).destination).toBe(to("fr"));
    expect(choose(options, { country: "GB", lot: 0.9 })).toMatchObject({ destination: to("b"), variant: 2 });
  });

  it("has nothing found out that it does not ask for", () => {
    const asked: string[] = [];
    const rules: TargetRule[] = [
      { languages: ["fr"], countries: ["FR"], destination: to("fr") },
      { languages: ["de"], destination: to("de") },
    ];
    choose({ rules }, { language: "de" }, asked);
    expect(asked).toEqual(["language", "language"]);
    asked.length = 0;
    choose({}, {}, asked);
    expect(asked).toEqual([]);
  });
});

describe("variants", () => {
  it("get their part of the lots, and a number from 1", () => {
    const variants = [
      { destination: to("a"), weight: 3 },
      { destination: to("b"), weight: 1 },
      { destination: to("c"), weight: 4 },
    ];
    const drawn = [0, 0.374, 0.375, 0.499, 0.5, 0.999_999].map(
      (lot) => choose({ variants }, { lot }).variant,
    );
    expect(drawn).toEqual([1, 1, 2, 2, 3, 3]);
  });
});
