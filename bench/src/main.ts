// `npm run bench` runs every benchmark, `npm run bench -- <name> …` the named ones; see `usage`.
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Bench, type Benchmark, MissingTool } from "./benchmark.ts";
import { auditMode } from "./benchmarks/audit.ts";
import { catchUp } from "./benchmarks/catch-up.ts";
import { catchUpFromKafka } from "./benchmarks/catch-up-kafka.ts";
import { catchUpFromRedis } from "./benchmarks/catch-up-redis.ts";
import { codec } from "./benchmarks/codec.ts";
import { coldMisses } from "./benchmarks/cold-misses.ts";
import { idle } from "./benchmarks/idle.ts";
import { journal } from "./benchmarks/journal.ts";
import { members } from "./benchmarks/members.ts";
import { memory } from "./benchmarks/memory.ts";
import { redirectTail } from "./benchmarks/redirect-tail.ts";
import { redirectsAndGo } from "./benchmarks/redirects-go.ts";
import { redirectsWithRules } from "./benchmarks/redirects-rules.ts";
import { redirects } from "./benchmarks/redirects.ts";
import { sizes } from "./benchmarks/sizes.ts";
import { statistics, statisticsOfMany } from "./benchmarks/statistics.ts";
import { visible } from "./benchmarks/visible.ts";
import { webhooks } from "./benchmarks/webhooks.ts";
import { webhooksIsolation } from "./benchmarks/webhooks-isolation.ts";
import { confine, describeMachine } from "./machine.ts";
import { exitCode, type Figure, keep, notRun, ofRounds, single, toLine } from "./report.ts";

const benchmarks: readonly Benchmark[] = [
  codec,
  journal,
  redirects,
  redirectsWithRules,
  redirectsAndGo,
  redirectTail,
  coldMisses,
  auditMode,
  catchUp,
  catchUpFromKafka,
  catchUpFromRedis,
  members,
  visible,
  webhooks,
  webhooksIsolation,
  sizes,
  statistics,
  statisticsOfMany,
  memory,
  idle,
];

const usage = `npm run bench -- [--quick] [--profile] [name …]

  names      ${benchmarks.map(({ name }) => name).join(", ")}; all without one
  --quick    two short rounds: shows that everything works; its figures mean little
  --profile  CPU profiles of the services go to bench/results/profiles; they cost some speed

Exit status: 0 all goals met, 1 a goal missed, 2 a figure not run, 3 both, 64 wrong arguments.`;

const options = readArguments();
if (options === undefined) {
  console.error(usage);
  process.exitCode = 64;
} else {
  process.exitCode = await main(options);
}

interface Options {
  readonly quick: boolean;
  readonly profile: boolean;
  readonly chosen: readonly Benchmark[];
}

function readArguments(): Options | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { quick: { type: "boolean", default: false }, profile: { type: "boolean", default: false } },
    });
    const unknown = positionals.find((name) => !benchmarks.some((benchmark) => benchmark.name === name));
    if (unknown !== undefined) return undefined;
    const chosen = benchmarks.filter(({ name, onlyWhenNamed }) =>
      positionals.length === 0 ? !onlyWhenNamed : positionals.includes(name),
    );
    return { ...values, chosen };
  } catch {
    return undefined;
  }
}

async function main({ quick, profile, chosen }: Options): Promise<number> {
  const stopped = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stopped.abort());
  const startedAt = new Date();
  const cores = confine(2);
  const ranOn = { ...describeMachine(cores), quick, profile };
  for (const [what, value] of Object.entries(ranOn)) console.log(`# ${what}: ${value}`);

  const figures: Figure[] = [];
  const against = new Set<string>();
  for (const benchmark of chosen) {
    if (stopped.signal.aborted) break;
    const profileDir = profile ? await freshProfileDir(benchmark.name) : undefined;
    const context = {
      rounds: quick ? 2 : 7,
      scale: quick ? 0.1 : 1,
      cores,
      profileDir,
      signal: stopped.signal,
    };
    figures.push(...(await measure(benchmark, context, against)));
  }
  const path = await keep({ startedAt, ranOn, against: [...against], figures });
  console.log(`# kept in ${path}`);
  return stopped.signal.aborted ? 3 : exitCode(figures);
}

type Context = Pick<Bench, "rounds" | "scale" | "cores" | "profileDir" | "signal">;

/** Runs one benchmark and prints its figures; what it cannot measure is not run, and does not stop the others. */
async function measure(benchmark: Benchmark, context: Context, against: Set<string>): Promise<Figure[]> {
  const { name, figures: specs } = benchmark;
  const recorded = new Map<string, Figure>();
  const specOf = (figure: string) => {
    const spec = specs.find((each) => each.name === figure);
    if (spec === undefined) throw new Error(`${name} does not say that it measures ${figure}`);
    return spec;
  };
  console.log(`# ${name}`);
  try {
    await benchmark.run({
      ...context,
      record: (figure, rounds) => void recorded.set(figure, ofRounds(specOf(figure), rounds)),
      recordSingle: (figure, value) => void recorded.set(figure, single(specOf(figure), value)),
      against(what) {
        if (!against.has(what)) console.log(`# against ${what}`);
        against.add(what);
      },
      note: (text) => console.log(`# note: ${text}`),
    });
  } catch (error) {
    if (context.signal.aborted) console.log(`# ${name} was interrupted`);
    else console.log(`# ${name} failed: ${error instanceof MissingTool ? error.message : explain(error)}`);
  }
  const figures = specs.map((spec) => recorded.get(spec.name) ?? notRun(spec));
  for (const figure of figures) console.log(toLine(figure));
  return figures;
}

/** All of it, because whoever reads this has to mend it. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\n# because of ${explain(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

async function freshProfileDir(name: string): Promise<string> {
  const path = fileURLToPath(new URL(`../results/profiles/${name}`, import.meta.url));
  await rm(path, { recursive: true, force: true });
  return path;
}
