// `npm run soak -- --kills 200 --clicks 2000000 [--log kafka] [--rate 2000] [--seed …]`: the kill test, as long as
// one has patience for. Exit status 0 when every answered click was stored exactly once.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

import { openBroker } from "./broker.ts";
import { ordeal, problems, type Report } from "./ordeal.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "200" },
    clicks: { type: "string", default: "2000000" },
    log: { type: "string", default: "journal" },
    rate: { type: "string", default: "2000" },
    seed: { type: "string", default: String(randomInt(1_000_000)) },
  },
});
const kills = count("kills", values.kills);
const clicks = count("clicks", values.clicks);
const perSecond = count("rate", values.rate);
if (values.log !== "journal" && values.log !== "kafka") throw new Error("--log takes journal or kafka");

console.log(`seed ${values.seed}: ${kills} kills over ${clicks} clicks at ${perSecond}/s, log ${values.log}`);
await using resources = new AsyncDisposableStack();
const broker = values.log === "kafka" ? { broker: resources.use(await openBroker()) } : {};
const report = await ordeal({
  ...broker,
  seed: count("seed", values.seed),
  kills,
  clicks,
  perSecond,
  // Spread over the whole time that the clicks take.
  meanPauseMs: (clicks / perSecond / kills) * 1000,
});
print(report);
const found = problems(report);
console.log(found.length === 0 ? "every answered click is stored exactly once" : found.join("\n"));
process.exitCode = found.length === 0 ? 0 : 1;

function print(result: Report): void {
  const lines: [string, unknown][] = [
    ["answered", result.answered],
    ["without an answer", perKind(result.unanswered)],
    ["stored", result.stored],
    [
      "missing",
      result.missing.length === 0 ? 0 : `${result.missing.length}: ${result.missing.slice(0, 20).join()} …`,
    ],
    ["repeats", result.repeats],
    ["holes", result.holes.length === 0 ? 0 : result.holes.join("; ")],
    ["refused numbers", result.refused],
    ["runs of the edge", result.runs],
    ["dead letters", result.deadLetters],
    ["merges", result.merges],
    ["kills", perKind(result.kills)],
    ["seconds", Math.round(result.seconds)],
    ["exit code", result.exitCode],
    ["left over", result.leftOver.join("; ") || 0],
  ];
  for (const [name, value] of lines) console.log(`${name.padEnd(18)} ${String(value)}`);
}

function perKind(counts: ReadonlyMap<string, number>): string {
  const total = [...counts.values()].reduce((sum, each) => sum + each, 0);
  return `${total}${[...counts].map(([kind, many]) => `  ${kind} ${many}`).join("")}`;
}

function count(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} takes a whole number from 1, not ${text}`);
  return Number(text);
}
