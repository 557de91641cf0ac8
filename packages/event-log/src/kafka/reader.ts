import type { Log } from "@sluice/service/log.ts";
import type { Consumer } from "kafkajs";
import { EventLogError, type Batch, type OpenOptions, type Reader, type Want } from "../event-log.ts";
import type { EventLogMetrics } from "../metrics.ts";
import { Pull, type Taken } from "../pull.ts";
import type { Admin } from "./admin.ts";
import type { Assignment, Offsets } from "./assignment.ts";
import { backOff, type Client } from "./client.ts";
import { brokerAnswer, settled, unavailable, within } from "./errors.ts";
import { Intake } from "./intake.ts";
import {
  committedOffsets,
  forgetGroup,
  groupIdOf,
  offsetsSince,
  topicOffsets,
  type TopicOffsets,
} from "./offsets.ts";
import type { Tuning } from "./tuning.ts";
import { Watch } from "./watch.ts";

/** Answers to a commit that say that the partitions are, or are about to be, another's. */
const lostAnswers = new Set([
  "ILLEGAL_GENERATION",
  "UNKNOWN_MEMBER_ID",
  "REBALANCE_IN_PROGRESS",
  "FENCED_INSTANCE_ID",
]);

/** How long a step of opening or closing may take. */
const stepMs = 5000;

export interface ReaderDeps {
  readonly topic: string;
  readonly options: OpenOptions;
  /** The reader's own; destroyed with it. */
  readonly client: Client;
  readonly admin: Admin;
  readonly metrics: EventLogMetrics;
  readonly log: Log;
  readonly tuning: Tuning;
  readonly rack: string | undefined;
  onClose(): void;
}

/** Opens one member of a group. Resolves before the group has given it partitions, which may take a minute. */
export async function openReader(deps: ReaderDeps): Promise<Reader> {
  const { topic, options, admin } = deps;
  const { since, group } = options;
  const [offsets, committed, start] = await Promise.all([
    topicOffsets(admin, topic),
    committedOffsets(admin, topic, group),
    since === undefined ? new Map<number, number>() : offsetsSince(admin, topic, since),
  ]);
  const reader = new KafkaReader(deps, { atOpen: offsets, committed, start });
  await reader.start();
  return reader;
}

class KafkaReader implements Reader {
  readonly #deps: ReaderDeps;
  readonly #consumer: Consumer;
  readonly #intake: Intake;
  readonly #pull: Pull;
  readonly #watch: Watch;
  /** What the group has committed, as far as is known. It outlives assignments. */
  readonly #committed: Map<number, number>;
  #closed: Promise<void> | undefined;
  #joined: Promise<void> = Promise.resolve();
  #committing: Promise<void> = Promise.resolve();

  constructor(
    deps: ReaderDeps,
    {
      atOpen,
      committed,
      start,
    }: { readonly atOpen: TopicOffsets; readonly committed: Offsets; readonly start: Offsets },
  ) {
    const { options, tuning } = deps;
    const { group } = options;
    this.#deps = deps;
    this.#committed = new Map(committed);
    this.#consumer = this.#createConsumer();
    this.#intake = new Intake({
      ...deps,
      group,
      consumer: this.#consumer,
      aheadBytes: tuning.aheadBytes,
      end: options.until === "now" ? atOpen.end : undefined,
      start,
      committed: this.#committed,
      changed: () => this.#pull.changed(),
      progress: () => this.#watch.progress(),
    });
    this.#pull = new Pull(
      {
        records: () => this.#intake.assignment?.ready.records ?? 0,
        bytes: () => this.#intake.assignment?.ready.valueBytes ?? 0,
        complete: () => this.#intake.assignment?.complete() ?? false,
        take: (maxRecords, maxBytes) => this.#take(maxRecords, maxBytes),
      },
      options.signal,
    );
    this.#watch = new Watch({
      ...deps,
      group,
      committed: this.#committed,
      waiting: () => this.#pull.waiting,
      assignment: () => this.#intake.assignment,
      fail: (error) => this.#pull.fail(error),
    });
  }

  async start(): Promise<void> {
    const { topic } = this.#deps;
    try {
      const subscribed = this.#consumer
        .connect()
        .then(() => this.#consumer.subscribe({ topic, fromBeginning: true }));
      await within(stepMs, `subscribing to topic ${topic}`, subscribed);
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw unavailable(error, `subscribing to topic ${topic}`);
    }
    this.#listen();
    // Resolves when the group has been joined; what goes wrong comes as a crash.
    this.#joined = this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 1,
      eachBatch: (payload) => this.#intake.receive(payload),
    });
    this.#joined.catch((error: unknown) => this.#end(error));
  }

  async next(want: Want): Promise<Batch | undefined> {
    return await this.#pull.next(want);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    this.#pull.close();
    this.#watch.close();
    // While the driver stops, a commit resolves and goes nowhere: the one that is under way comes first.
    await settled(stepMs, this.#committing);
    this.#intake.unassign();
    // A member that leaves before it has joined is missed by the group for a whole session.
    await settled(stepMs, this.#joined);
    await settled(stepMs, this.#consumer.disconnect());
    const { topic, options, admin } = this.#deps;
    if (options.fleeting === true) await settled(stepMs, forgetGroup(admin, topic, options.group));
    this.#deps.client.destroy();
    this.#deps.onClose();
  }

  #createConsumer(): Consumer {
    const { client, topic, options, tuning, rack } = this.#deps;
    return client.kafka.consumer({
      ...(rack !== undefined && { rackId: rack }),
      groupId: groupIdOf(topic, options.group),
      allowAutoTopicCreation: false,
      sessionTimeout: tuning.sessionMs,
      heartbeatInterval: tuning.heartbeatMs,
      rebalanceTimeout: tuning.rebalanceMs,
      metadataMaxAge: 30_000,
      // Also how long a stop waits for the fetch that is under way; an idle reader fetches as often.
      maxWaitTimeInMs: 500,
      maxBytesPerPartition: tuning.fetchBytes,
      maxBytes: 4 * tuning.fetchBytes,
      retry: {
        ...backOff,
        retries: 5,
        restartOnFailure: async () => this.#closed === undefined,
      },
    });
  }

  #listen(): void {
    const { topic, options, log } = this.#deps;
    const { GROUP_JOIN, STOP, CRASH } = this.#consumer.events;
    const fields = { topic, group: options.group };
    let away = false;
    this.#consumer.on(GROUP_JOIN, ({ payload }) => {
      if (away) log.info(fields, "the kafka reader is back in its group");
      away = false;
      if (this.#closed === undefined) this.#intake.assign(payload.memberAssignment[topic] ?? []);
    });
    this.#consumer.on(STOP, () => this.#intake.unassign());
    this.#consumer.on(CRASH, ({ payload }) => {
      this.#intake.unassign();
      if (!payload.restart) this.#end(payload.error);
      // Once, not at every attempt.
      else if (!away)
        log.warn({ ...fields, err: payload.error }, "the kafka reader has lost its group and tries again");
      away = true;
    });
  }

  /** The driver has given up: so does the service, and its next start has a new driver. */
  #end(error: unknown): void {
    this.#pull.fail(
      new Error(`kafka: the reader of topic ${this.#deps.topic} cannot go on`, { cause: error }),
    );
  }

  #take(maxRecords: number, maxBytes: number): Taken {
    const { assignment, records, offsets } = this.#intake.take(maxRecords, maxBytes);
    return {
      records,
      epoch: assignment.epoch,
      signal: assignment.signal,
      commit: async () => {
        const committing = this.#commit(assignment, offsets);
        this.#committing = committing;
        await committing;
      },
    };
  }

  /**
   * Commits through the delivery's own function, which uses the generation of this very moment, is not tried again
   * by the driver under a later one, and is not swallowed when the driver has stopped.
   */
  async #commit(assignment: Assignment, offsets: Offsets): Promise<void> {
    const { topic, options, metrics, tuning } = this.#deps;
    const partitions = [...offsets].map(([partition, offset]) => ({ partition, offset: `${offset}` }));
    const { commitOffsets } = assignment;
    if (commitOffsets === undefined) throw new Error("records were handed out that no delivery brought");
    try {
      const answer = commitOffsets({ topics: [{ topic, partitions }] });
      await within(tuning.commitMs, `committing for group ${options.group}`, answer);
      for (const [partition, offset] of offsets) this.#committed.set(partition, offset);
    } catch (error) {
      const refusal = lostAnswers.has(brokerAnswer(error) ?? "")
        ? new EventLogError("lost", "kafka: the partitions have been assigned anew", { cause: error })
        : unavailable(error, `committing for group ${options.group}`);
      metrics.commitFailures.inc({ topic, group: options.group, code: refusal.code });
      if (refusal.code === "lost" && this.#intake.assignment === assignment) this.#intake.unassign();
      throw refusal;
    }
  }
}
