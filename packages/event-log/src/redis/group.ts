import { type Entries, entriesClaimed, entriesRead, fieldsOf, listOf, numberOf, textOf } from "./answers.ts";
import type { Connection } from "./connection.ts";
import { refusalCode } from "./errors.ts";
import { acknowledgeScript, forgetScript, leaveScript, maxPerScript, renewScript } from "./scripts.ts";

/** Given up entries look as if they had been left a day ago: to whoever looks, they are abandoned. */
const releasedIdleMs = 86_400_000;
/** No millisecond has so many entries, and Lua can count one further. */
const lastOfItsTime = 1_000_000_000;

/** What has become of ids that were ours. */
export interface Ownership {
  /** Those that another consumer has now. */
  readonly taken: readonly string[];
  /** Those that nobody has: acknowledged, or deleted from the stream. */
  readonly gone: readonly string[];
}

export interface GroupOptions {
  readonly key: string;
  readonly group: string;
  readonly consumer: string;
  /** Where a new group begins, in ms since 1970. */
  readonly since: number | undefined;
  /** The reader's own, because reads wait on it. */
  readonly reading: Connection;
  readonly asking: Connection;
}

/** One consumer of a group on a stream: what it may say to Redis. Ids are given in ascending order. */
export class Group {
  readonly #options: GroupOptions;

  constructor(options: GroupOptions) {
    this.#options = options;
  }

  /** Makes stream and group where they are not there. A new group begins at the oldest entry, or at that of its time. */
  async begin(): Promise<void> {
    const { key, group, since = 0, asking } = this.#options;
    // An id begins with its entry's time. This one counts as the last that was given.
    const before = since > 0 ? `${Math.ceil(since) - 1}-${lastOfItsTime}` : "0";
    try {
      await asking.send(["XGROUP", "CREATE", key, group, before, "MKSTREAM"]);
    } catch (error) {
      if (refusalCode(error) !== "BUSYGROUP") throw error;
    }
  }

  /** The id that was given last in this stream, if only to an entry that is gone. */
  async lastId(): Promise<string> {
    const { key, asking } = this.#options;
    return textOf(fieldsOf(await asking.send(["XINFO", "STREAM", key])).get("last-generated-id"));
  }

  /** Entries that the group has given to nobody; undefined when there are none, after `blockMs` if that is not 0. */
  async read(count: number, blockMs: number): Promise<Entries | undefined> {
    const { key, group, consumer, reading } = this.#options;
    const block = blockMs === 0 ? [] : ["BLOCK", `${blockMs}`];
    const command = ["XREADGROUP", "GROUP", group, consumer, "COUNT", `${count}`, ...block];
    return entriesRead(await reading.sendBlocking([...command, "STREAMS", key, ">"], blockMs));
  }

  /** What this consumer was given behind `after` and has not acknowledged, oldest first. */
  async given(after: string, count: number): Promise<Entries | undefined> {
    const { key, group, consumer, reading } = this.#options;
    const command = ["XREADGROUP", "GROUP", group, consumer, "COUNT", `${count}`, "STREAMS", key, after];
    return entriesRead(await reading.send(command));
  }

  /** Takes entries over that nobody has renewed for so long, from `start` on. */
  async claim(start: string, count: number, idleMs: number): Promise<Entries & { readonly next: string }> {
    const { key, group, consumer, reading } = this.#options;
    const command = ["XAUTOCLAIM", key, group, consumer, `${idleMs}`, start, "COUNT", `${count}`];
    return entriesClaimed(await reading.send(command));
  }

  /** Forgets entries without bodies, which nobody can do anything with. */
  async dismiss(ids: readonly string[]): Promise<void> {
    const { key, group, reading } = this.#options;
    if (ids.length > 0) await reading.send(["XACK", key, group, ...ids]);
  }

  /** All of at most a thousand, or none. `goneIsWell`: also when nobody has some of them. */
  async acknowledge(ids: readonly string[], goneIsWell: boolean): Promise<Ownership> {
    return ownershipOf(await this.#ask(acknowledgeScript, goneIsWell ? "1" : "", ...ids));
  }

  /** Says that we still work on those of at most a thousand that are ours. */
  async renew(ids: readonly string[]): Promise<Ownership> {
    return ownershipOf(await this.#ask(renewScript, "", ...ids));
  }

  /** Ends a `read` that waits, if one does. */
  async unblock(): Promise<void> {
    const { reading, asking } = this.#options;
    if (reading.id !== undefined) await asking.send(["CLIENT", "UNBLOCK", `${reading.id}`]);
  }

  /** Gives everything back that is not acknowledged, to whoever looks next, and leaves the group. */
  async leave(): Promise<void> {
    const given = [`${maxPerScript}`, `${releasedIdleMs}`];
    while (numberOf(await this.#ask(leaveScript, ...given)) > 0);
  }

  /** Makes the group forget consumers that have nothing pending and have been silent for so long. */
  async forget(silentMs: number): Promise<void> {
    const { key, group, asking } = this.#options;
    await asking.send(["EVAL", forgetScript, "1", key, group, `${silentMs}`]);
  }

  async #ask(script: string, ...args: string[]): Promise<unknown> {
    const { key, group, consumer, asking } = this.#options;
    return await asking.send(["EVAL", script, "1", key, group, consumer, ...args]);
  }
}

function ownershipOf(answer: unknown): Ownership {
  const [taken, gone] = listOf(answer);
  return { taken: listOf(taken).map(textOf), gone: listOf(gone).map(textOf) };
}
