/** One line of the curve. What nobody could say at that moment is undefined. */
export interface Moment {
  /** Since the first click. */
  readonly seconds: number;
  /** What is being done: "all is well", "ClickHouse is away" … */
  readonly phase: string;
  readonly values: ReadonlyMap<string, number | undefined>;
}

/** What is looked at once a second. */
export interface Column {
  /** Heads it in the text, and names its line in the picture. */
  readonly name: string;
  /** Those with the same are drawn in one panel; it says the unit. */
  readonly panel: string;
  readonly read: () => number | undefined | Promise<number | undefined>;
}

const everyMs = 1_000;

/** Looks at all columns once a second until it is stopped. */
export function startCurve(columns: readonly Column[], onMoment: (moment: Moment) => void) {
  const startedAt = performance.now();
  const moments: Moment[] = [];
  const stopping = new AbortController();
  let phase = "all is well";
  async function look(): Promise<void> {
    const seconds = (performance.now() - startedAt) / 1_000;
    const during = phase;
    const values = await Promise.all(columns.map(async (each) => [each.name, await each.read()] as const));
    const moment = { seconds, phase: during, values: new Map(values) };
    moments.push(moment);
    onMoment(moment);
  }
  async function run(): Promise<void> {
    for (let next = everyMs; !stopping.signal.aborted; next += everyMs) {
      await look();
      await pause(startedAt + next - performance.now(), stopping.signal);
    }
  }
  const done = run();
  return {
    moments,
    enter: (next: string) => void (phase = next),
    /** Looks for the last time. */
    async end(): Promise<void> {
      stopping.abort();
      await done;
      await look();
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await done;
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, ms));
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

/** The text's head, and a line of it; each column as wide as its name. */
export function formatHead(columns: readonly Column[]): string {
  return ["    s", ...columns.map(({ name }) => name.padStart(widthOf(name))), "phase"].join("  ");
}

export function formatMoment(columns: readonly Column[], { seconds, phase, values }: Moment): string {
  const cells = columns.map(({ name }) => shown(values.get(name)).padStart(widthOf(name)));
  return [seconds.toFixed(0).padStart(5), ...cells, phase].join("  ");
}

function widthOf(name: string): number {
  return Math.max(name.length, 6);
}

function shown(value: number | undefined): string {
  if (value === undefined) return "-";
  return value.toFixed(Number.isInteger(value) || value >= 100 ? 0 : 1);
}
