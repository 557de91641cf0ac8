import { setTimeout as delay } from "node:timers/promises";
import kafkajs, { type Admin as Driver } from "kafkajs";
import { EventLogError } from "../event-log.ts";
import type { Client } from "./client.ts";
import { brokerAnswer, mayPass, settled, unavailable, within } from "./errors.ts";

/** The port promises that `ping` takes at most five seconds; nothing that is asked here takes longer. */
const answerMs = 5000;

/** A cluster that has just started, or a topic that has just been made, is known everywhere in half a second. */
const pauseMs = 100;

/** Questions to the cluster over one connection, made when first needed and made anew after it failed. */
export class Admin {
  readonly #createClient: () => Client;
  #connected: { client: Client; driver: Driver; ready: Promise<void> } | undefined;
  #closed = false;

  constructor(createClient: () => Client) {
    this.#createClient = createClient;
  }

  /**
   * Rejects with `unavailable`, at the latest after five seconds. `what` names the question in the message. When a
   * broker answers that it cannot tell yet, asks again for so long as `patienceMs` says.
   */
  async ask<T>(what: string, question: (driver: Driver) => Promise<T>, patienceMs = answerMs): Promise<T> {
    const start = performance.now();
    for (;;) {
      if (this.#closed) throw new EventLogError("closed", "the event log is closed");
      const connected = (this.#connected ??= this.#connect());
      try {
        const leftMs = Math.max(1, answerMs - (performance.now() - start));
        return await within(
          leftMs,
          what,
          connected.ready.then(() => question(connected.driver)),
        );
      } catch (error) {
        if (!answersLater(error)) this.#discard(connected, error);
        if (!answersLater(error) || performance.now() - start + pauseMs > patienceMs)
          throw unavailable(error, what);
        await delay(pauseMs);
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connected = this.#connected;
    if (connected === undefined) return;
    await settled(1000, connected.driver.disconnect());
    connected.client.destroy();
  }

  /** An answer leaves the connection good, also one that is an error. */
  #discard(connected: { client: Client }, error: unknown): void {
    if (brokerAnswer(error) !== undefined || this.#connected !== connected) return;
    this.#connected = undefined;
    connected.client.destroy();
  }

  #connect() {
    const client = this.#createClient();
    const driver = client.kafka.admin();
    return { client, driver, ready: driver.connect() };
  }
}

/** Whether a broker has answered that it cannot tell yet. */
function answersLater(error: unknown): boolean {
  // How the driver says that no broker knows yet who keeps the positions of a group.
  if (error instanceof kafkajs.KafkaJSGroupCoordinatorNotFound) return true;
  return brokerAnswer(error) !== undefined && mayPass(error);
}
