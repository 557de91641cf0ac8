import { readFileSync } from "node:fs";
import { clickIdNames, type ClickEvent } from "@sluice/click-event/click-event.ts";
import { pixelMacros } from "@sluice/link-store/targets/pixel-macros.ts";
import { describe, expect, test } from "vitest";
import { deliveryOf, now } from "./testing/deliveries.ts";
import { forwarders, openForwarder } from "./testing/forwarders.ts";

const page = readFileSync(new URL("../../../../docs/forwarding.md", import.meta.url), "utf8");

/** A click of which everything is known. */
const full: Partial<ClickEvent> = {
  utm: { source: "s", medium: "m", campaign: "c", term: "t", content: "o" },
  click_ids: Object.fromEntries(clickIdNames.map((name) => [name, `id-${name}`])),
};

describe.each(forwarders)("$kind", (forwarder) => {
  test("each field that is sent is in the page's table, and no other", () => {
    const [request] = openForwarder(forwarder).plan([deliveryOf(full)], now).requests;
    const sent = namesOf(JSON.parse(String(request?.request.body)));
    expect(told(forwarder.kind).toSorted()).toEqual([...new Set(sent)].toSorted());
  });
});

test("each macro of a pixel is in the page's table, and no other", () => {
  const macros = pixelMacros.map((name) => `{${name}}`);
  expect(told("pixels").toSorted()).toEqual(macros.toSorted());
});

/** The first column of the table below the heading with this anchor; several names in it are told apart by commas. */
function told(section: string): string[] {
  const [, table = ""] =
    new RegExp(`^## .*<a id="${section}"></a>$([^]*?)(?=^## |(?![^]))`, "m").exec(page) ?? [];
  const cells = [...table.matchAll(/^\| (`[^|]*`) +\|/gm)].map(([, cell = ""]) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
}

/** The names that have values of their own; `type` is the envelope of a resource. */
function namesOf(value: unknown, name = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => namesOf(item, name));
  if (typeof value !== "object" || value === null) return name === "type" ? [] : [name];
  return Object.entries(value).flatMap(([inner, of]) => namesOf(of, inner));
}
