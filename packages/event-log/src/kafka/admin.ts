import type { Admin as Driver } from "kafkajs";
import { EventLogError } from "../event-log.ts";
import type { Client } from "./client.ts";
import { brokerAnswer, settled, unavailable, within } from "./errors.ts";

/** The port promises that `ping` takes at most five seconds; nothing that is asked here takes longer. */
const answerMs = 5000;

/** Questions to the cluster over one connection, made when first needed and made anew after it failed. */
export class Admin {
  readonly #createClient: () => Client;
  #connected: { client: Client; driver: Driver; ready: Promise<void> } | undefined;
  #closed = false;

  constructor(createClient: () => Client) {
    this.#createClient = createClient;
  }

  /** Rejects with `unavailable`, at the latest after five seconds. `what` names the question in the message. */
  async ask<T>(what: string, question: (driver: Driver) => Promise<T>): Promise<T> {
    if (this.#closed) throw new EventLogError("closed", "the event log is closed");
    const connected = (this.#connected ??= this.#connect());
    try {
      return await within(
        answerMs,
        what,
        connected.ready.then(() => question(connected.driver)),
      );
    } catch (error) {
      // An answer that is an error leaves the connection good.
      if (brokerAnswer(error) === undefined && this.#connected === connected) {
        this.#connected = undefined;
        connected.client.destroy();
      }
      throw unavailable(error, what);
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
    const driver = client.kafka.admin();
    return { client, driver, ready: driver.connect() };
  }
}
