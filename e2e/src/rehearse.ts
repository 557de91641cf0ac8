// Outages, rehearsed: `npm run rehearse -- NAME [--seconds 60] [--rate 200] [--svg FILE]`. Runs the real servers and
// services on this machine, breaks one thing while visitors come, prints what an operator would see, draws it, and ends
// with 0 only if nothing was lost.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseArgs } from "node:util";

import { type Column, formatHead, formatMoment, type Moment } from "./rehearse/curve.ts";
import { draw } from "./rehearse/draw.ts";
import { rehearsalNamed, rehearsalNames } from "./rehearse/rehearsals.ts";
import { rehearse, type Report } from "./rehearse/rehearse.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "60" },
    rate: { type: "string", default: "200" },
    svg: { type: "string" },
  },
});
const [name = ""] = positionals;
const rehearsal = rehearsalNamed(name);
if (rehearsal === undefined || positionals.length > 1)
  throw new Error(`give one of ${rehearsalNames.join(", ")}, not "${positionals.join(" ")}"`);
// Shorter, a break would be over before anybody saw it.
const seconds = wholeNumber("seconds", values.seconds, 20);
const perSecond = wholeNumber("rate", values.rate, 1);
const svg = values.svg ?? `e2e/results/${name}.svg`;

/** So many lines for the whole time that visitors come. */
const lines = 30;
let printed = -1;
console.log(`${name}: ${perSecond} clicks a second to each edge, for ${seconds} s`);
const report = await rehearse(rehearsal, { seconds, perSecond, onMoment });
printReport(report);
await mkdir(dirname(svg), { recursive: true });
await writeFile(svg, draw(name, report));
console.log(`drawn              ${svg}`);
console.log(report.problems.length === 0 ? "all is well" : report.problems.join("\n"));
process.exitCode = report.problems.length === 0 ? 0 : 1;

function onMoment(columns: readonly Column[], moment: Moment): void {
  if (printed === -1) console.log(formatHead(columns));
  const line = Math.floor((moment.seconds * lines) / seconds);
  if (line === printed) return;
  printed = line;
  console.log(formatMoment(columns, moment));
}

function printReport({ answered, failed, delivered, caughtUpSeconds, verdict }: Report): void {
  const { missing, refused, holes, repeats, stored, runs } = verdict;
  const rows: [string, unknown][] = [
    ["answered", answered],
    ["not answered", [...failed].map(([what, many]) => `${what} ${many}`).join("  ") || 0],
    ["stored", stored],
    ["refused, and known", refused],
    ["lost", Math.max(0, missing.length - refused)],
    ["holes", holes.length],
    ["stored twice", repeats],
    ["delivered", delivered],
    ["runs of edges", runs],
    ["caught up after", `${caughtUpSeconds.toFixed(1)} s`],
  ];
  for (const [what, said] of rows) console.log(`${what.padEnd(18)} ${String(said)}`);
}

function wholeNumber(option: string, text: string, least: number): number {
  if (/^\d{1,6}$/.test(text) && Number(text) >= least) return Number(text);
  throw new Error(`--${option} takes a whole number from ${least}, not ${text}`);
}
