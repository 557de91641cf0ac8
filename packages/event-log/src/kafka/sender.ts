import kafkajs, {
  type CompressionTypes as CompressionType,
  type Message,
  type Producer as Driver,
} from "kafkajs";
import { EventLogError } from "../event-log.ts";
import type { Client } from "./client.ts";
import { brokerAnswer, settled, within } from "./errors.ts";
import type { KafkaSettings } from "./url.ts";

const { CompressionTypes } = kafkajs;

/** How long the brokers may take to replicate one send. Below the request time-out of the client. */
const replicationMs = 10_000;

/** When one try is given up; by then the driver's own time-outs, of 15 s at most, have failed. */
const sendMs = 20_000;

/** So many failures in a row, and the driver is thrown away at one without an answer: it may be past recovery. */
const patience = 3;

/** Sends to one partition at a time, over one driver that is replaced when it no longer gets anywhere. */
export class Sender {
  readonly #createClient: () => Client;
  readonly #compression: CompressionType;
  #connected: { client: Client; driver: Driver; ready: Promise<void> } | undefined;
  #failures = 0;
  #closed = false;

  constructor(createClient: () => Client, compression: KafkaSettings["compression"]) {
    this.#createClient = createClient;
    this.#compression = compression === "zstd" ? CompressionTypes.ZSTD : CompressionTypes.None;
  }

  /**
   * Resolves when all in-sync replicas have the records. Tries once: trying again is the lane's business.
   *
   * All the messages go to one partition. With more than one, the driver forgets, when it tries again, those whose
   * leader has moved to a broker that has already answered, and says that it has sent them.
   */
  async send(topic: string, partition: number, messages: Message[]): Promise<void> {
    if (this.#closed) throw new EventLogError("closed", "the event log is closed");
    const connected = (this.#connected ??= this.#connect());
    try {
      const what = `sending to partition ${partition} of topic ${topic}`;
      const sent = connected.ready.then(() =>
        connected.driver.send({
          topic,
          messages,
          acks: -1,
          timeout: replicationMs,
          compression: this.#compression,
        }),
      );
      const answers = await within(sendMs, what, sent);
      // For a partition that it does not know the driver resolves too, without having sent anything.
      if (!answers.some((stored) => stored.partition === partition && stored.errorCode === 0)) {
        throw new EventLogError(
          "unavailable",
          `kafka: no broker has partition ${partition} of topic ${topic}`,
        );
      }
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      if (brokerAnswer(error) === undefined && this.#failures >= patience) this.#discard(connected);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connected = this.#connected;
    if (connected === undefined) return;
    await settled(1000, connected.driver.disconnect());
    connected.client.destroy();
  }

  #connect() {
    const client = this.#createClient();
    const driver = client.kafka.producer({
      allowAutoTopicCreation: false,
      // Only the partition that is given counts; this silences a notice about the default one.
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition ?? 0,
      retry: { retries: 0 },
    });
    const connected = { client, driver, ready: driver.connect() };
    connected.ready.catch(() => this.#discard(connected));
    return connected;
  }

  #discard(connected: { client: Client }): void {
    if (this.#connected === connected) this.#connected = undefined;
    this.#failures = 0;
    connected.client.destroy();
  }
}
