import { setTimeout as delay } from "node:timers/promises";

import type { Log } from "@sluice/service/log.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { type Backoff, createBackoff } from "@sluice/service/retry.ts";
import { configExitCode } from "@sluice/service/service-error.ts";

/** A started process: an app or a server. Disposing stops it in good order, by force when it takes too long. */
export interface Running extends AsyncDisposable {
  readonly pid: number;
  /** Resolves when it has ended, with its exit code where that is known. */
  readonly exited: Promise<number | null | void>;
  kill(signal: NodeJS.Signals): void;
}

/** A process that is started again whenever it ends. Disposing stops it for good, and in good order. */
export interface Kept<Process extends Running = Running> extends AsyncDisposable {
  /** As it was first started. */
  readonly first: Process;
  /** Asks it to end, and starts it again as soon as it has: its source has changed. */
  restart(): void;
  /** `kill -9`, for good and without waiting. */
  kill(): void;
}

export interface KeepOptions {
  readonly log: Log;
  /** Called when it ends with the exit code that says that no start will help. It is not started again. */
  readonly onRefused: () => void;
  /** Draws the waits, 0 up to 1. */
  readonly random?: () => number;
}

/**
 * Starts a process and keeps it running. Rejects when the first start does; later ones are tried without end,
 * further and further apart.
 */
export async function keepRunning<Process extends Running>(
  start: () => Promise<Process>,
  options: KeepOptions,
): Promise<Kept<Process>> {
  const first = await start();
  const keeper = new Keeper(first, start, options);
  return {
    first,
    restart: () => keeper.restart(),
    kill: () => keeper.kill(),
    [Symbol.asyncDispose]: () => keeper.stop(),
  };
}

/** At first faster than a person notices; at the last, one that cannot start costs next to nothing. */
const backoffMs = { minMs: 200, maxMs: 10_000 };
/** One that ran so long had started well: what ended it is something new. */
const settledMs = 10_000;

class Keeper {
  readonly #start: () => Promise<Running>;
  readonly #options: KeepOptions;
  readonly #backoff: Backoff;
  readonly #stopping = new AbortController();
  /** Aborts when it is to be started again without waiting; a new one is made with each start. */
  #hurry = new AbortController();
  #current: Running | undefined;
  readonly #kept: Promise<void>;

  constructor(first: Running, start: () => Promise<Running>, options: KeepOptions) {
    this.#current = first;
    this.#start = start;
    this.#options = options;
    this.#backoff = createBackoff({ ...backoffMs, random: options.random ?? Math.random });
    this.#kept = this.#keep();
  }

  restart(): void {
    this.#hurry.abort();
    this.#current?.kill("SIGTERM");
  }

  kill(): void {
    this.#stopping.abort();
    this.#current?.kill("SIGKILL");
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#current?.[Symbol.asyncDispose]();
    await this.#kept;
  }

  async #keep(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const mayStart = this.#current === undefined || (await this.#ended(this.#current));
      if (!mayStart) return this.#options.onRefused();
      await this.#pause();
      this.#current = this.#stopping.signal.aborted ? undefined : await this.#startAgain();
    }
    // A start that was under way when the order to stop came.
    await this.#current?.[Symbol.asyncDispose]();
  }

  /** Resolves, once it has ended, to whether it may be started again. */
  async #ended({ exited, pid }: Running): Promise<boolean> {
    const startedAt = performance.now();
    const code = await exited;
    this.#current = undefined;
    if (this.#stopping.signal.aborted || this.#hurry.signal.aborted) return true;
    if (code === configExitCode) return false;
    if (performance.now() - startedAt > settledMs) this.#backoff.reset();
    this.#options.log.warn(
      { process: pid, code: code ?? undefined },
      "ended untold; it will be started again",
    );
    return true;
  }

  async #pause(): Promise<void> {
    const wake = AbortSignal.any([this.#stopping.signal, this.#hurry.signal]);
    await delay(this.#backoff.next(), undefined, { signal: wake }).catch(() => {});
    if (this.#hurry.signal.aborted) this.#hurry = new AbortController();
  }

  async #startAgain(): Promise<Running | undefined> {
    const { log } = this.#options;
    try {
      const started = await this.#start();
      log.info({ process: started.pid }, "started again");
      return started;
    } catch (error) {
      log.warn({ reason: errorLine(error) }, "could not be started; it will be tried again");
      return undefined;
    }
  }
}
