import type { LinkOptions } from "@sluice/link-store/link-options.ts";

import { compileRule, type VisitFacts } from "./target-rule.ts";
import { drawVariant } from "./variant.ts";

/** One of the places that a link may lead to. */
export interface Way {
  readonly destination: string;
  /** From 1; 0 when it is none of the variants. */
  readonly variant: number;
  /** Whether the link's app is tried first: not where a rule has said where to go. */
  readonly triesApp: boolean;
}

/**
 * Which way a visit takes: the first rule that fits, else the variant that the visitor's lot falls on, else the link's
 * destination. Each way is prepared once, when the first visit takes it: of fifty, most links use a few.
 */
export function compileChoice<Prepared>(
  { destination, rules = [], variants = [] }: LinkOptions & Pick<Way, "destination">,
  prepare: (way: Way) => Prepared,
): (facts: VisitFacts) => Prepared {
  const once = (way: Way): (() => Prepared) => {
    let prepared: Prepared | undefined;
    return () => (prepared ??= prepare(way));
  };
  const targets = rules.map((rule) => ({
    fits: compileRule(rule),
    way: once({ destination: rule.destination, variant: 0, triesApp: false }),
  }));
  const drawn = variants.map((variant, index) =>
    once({ destination: variant.destination, variant: index + 1, triesApp: true }),
  );
  const usual = once({ destination, variant: 0, triesApp: true });
  return (facts) => {
    for (const { fits, way } of targets) if (fits(facts)) return way();
    const way = variants.length === 0 ? usual : (drawn[drawVariant(variants, facts.lot())] ?? usual);
    return way();
  };
}
