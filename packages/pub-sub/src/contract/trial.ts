import { randomUUID } from "node:crypto";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect } from "vitest";
import { openPubSub } from "../open.ts";
import { type Notice, type PubSub, PubSubError } from "../pub-sub.ts";

/** One adapter on its real service, as the contract suite sees it. */
export interface ContractSubject extends AsyncDisposable {
  readonly url: string;
  /** Kills the server, and starts it again at the same address; absent where the server is not the test's own. */
  readonly server?: { kill(): Promise<void>; start(): Promise<void> };
}

/** What one case works with: a channel of its own, and what it opens is closed behind it. */
export interface Trial {
  readonly subject: ContractSubject;
  readonly channel: string;
  /** As another process would; by way of a proxy where a URL is given. */
  open(url?: string): Promise<PubSub>;
  /** Subscribes, and resolves once the channel is heard. */
  hear(pubSub: PubSub, channel?: string): Promise<Heard>;
  /** The server to kill. Where it is not the test's own, the case ends there as left out. */
  server(): NonNullable<ContractSubject["server"]>;
  /** The sum of a metric of this name over all that the case has opened. */
  metric(name: string): Promise<number>;
}

/** What a subscriber has been told so far, the first gap excepted. */
export interface Heard {
  readonly notices: readonly Notice[];
  messages(): string[];
  /** Resolves when what it was told is so. */
  until(isSo: (notices: readonly Notice[]) => boolean): Promise<void>;
  /** Resolves when it has heard that there was a gap, and everything after it. */
  untilGap(): Promise<void>;
  stop(): void;
  readonly ended: Promise<void>;
}

export async function withTrial(
  subject: ContractSubject,
  skip: (reason: string) => never,
  run: (trial: Trial) => Promise<void>,
): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const metrics = createMetrics();
  const own = `contract-${randomUUID()}`;
  await run({
    subject,
    server: () => subject.server ?? skip("the server is not the test's own"),
    channel: own,
    open: async (url = subject.url) => opened.use(await openPubSub(url, { log: silentLog, metrics })),
    hear: async (pubSub, channel = own) => {
      const heard = collect(pubSub, channel);
      await heard.until((notices) => notices.length === 1);
      expect(heard.notices).toEqual([{ kind: "gap" }]);
      heard.notices.pop();
      return heard;
    },
    metric: async (name) => {
      const { body } = await metrics.render();
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(body)?.[1]);
    },
  });
}

function collect(pubSub: PubSub, channel: string): Heard & { readonly notices: Notice[] } {
  const stopped = new AbortController();
  const notices: Notice[] = [];
  const told = new EventTarget();
  async function listen(): Promise<void> {
    for await (const notice of pubSub.subscribe(channel, { signal: stopped.signal })) {
      notices.push(notice);
      told.dispatchEvent(new Event("notice"));
    }
  }
  async function until(isSo: (notices: readonly Notice[]) => boolean): Promise<void> {
    const seen = Promise.withResolvers<void>();
    const look = () => {
      if (isSo(notices)) seen.resolve();
    };
    told.addEventListener("notice", look);
    const tooLong = setTimeout(
      () => seen.reject(new Error(`not told in time; ${notices.length} notices`)),
      15_000,
    );
    look();
    await seen.promise.finally(() => {
      clearTimeout(tooLong);
      told.removeEventListener("notice", look);
    });
  }
  return {
    notices,
    until,
    untilGap: () => until(() => notices.some(({ kind }) => kind === "gap")),
    messages: () => notices.flatMap((notice) => (notice.kind === "message" ? [notice.message] : [])),
    stop: () => stopped.abort(),
    ended: listen(),
  };
}

/** The `PubSubError` that `promise` rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<PubSubError> {
  const outcome = await promise.then(
    () => new Error("was not refused"),
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(PubSubError);
  if (outcome instanceof PubSubError) return outcome;
  throw new Error("unreachable");
}
