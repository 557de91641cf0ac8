import { setTimeout as delay } from "node:timers/promises";
import { type RedisOptions, type RedisServer, RedisUrlError } from "@sluice/redis-server/redis-server.ts";
import { withinMs } from "@sluice/service/time-limit.ts";
import { createClient, RESP_TYPES } from "@redis/client";
import { EventLogError } from "../event-log.ts";
import { numberOf } from "./answers.ts";
import { refusalCode, toEventLogError } from "./errors.ts";

/** To reach a server and log in. */
const connectMs = 3000;
/** What a command may take: more than twice what a server holds writers up when its disk is slow. */
const answerMs = 5000;

/** Refusals of a server that is no longer, or not yet, the one to talk to: another may stand at the address. */
const elsewhere = new Set(["READONLY", "MASTERDOWN", "LOADING"]);

export type Argument = string | Buffer;

/**
 * One connection, made when it is first needed and again after it broke: whoever got an error decides whether, and
 * when, to try again. Commands go out in the order in which they are given. Every rejection is an EventLogError.
 */
export class Connection implements AsyncDisposable {
  readonly #server: RedisServer;
  #current: Promise<Client> | undefined;
  #closed = false;
  /** The server's name for the connection, by which another may end its wait. */
  id: number | undefined;

  constructor({ server }: { server: RedisServer }) {
    this.#server = server;
  }

  /** Gives the answer as Redis has it: text as bytes, lists as lists. */
  async send(command: readonly Argument[], limitMs = answerMs): Promise<unknown> {
    if (this.#closed) throw new EventLogError("closed", "the event log is closed");
    const current = (this.#current ??= this.#connect());
    try {
      const client = await current;
      return await withinMs(limitMs, client.sendCommand<unknown>(command));
    } catch (error) {
      if (this.#closed) throw new EventLogError("closed", "the event log is closed", { cause: error });
      const code = refusalCode(error);
      if (code === undefined || elsewhere.has(code)) this.#discard(current);
      throw toEventLogError(error, this.#server);
    }
  }

  /** As `send`, for a command that may itself wait for so long. */
  async sendBlocking(command: readonly Argument[], blockMs: number): Promise<unknown> {
    return await this.send(command, answerMs + blockMs);
  }

  /** Ends it at once; what is under way rejects with `closed`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const current = this.#current;
    if (current === undefined) return;
    this.#discard(current);
    await Promise.race([current.catch(() => {}), delay(connectMs, undefined, { ref: false })]);
  }

  #connect(): Promise<Client> {
    const connecting = this.#open(() => this.#discard(connecting));
    connecting.catch(() => this.#discard(connecting));
    return connecting;
  }

  /** `onBroken`: the driver has given up on it, or it fell silent. The next command makes another. */
  async #open(onBroken: () => void): Promise<Client> {
    const client = newClient(await this.#server.locate(connectMs));
    client.on("error", onBroken);
    try {
      const connecting = client.connect().then(() => this.#server.check(client));
      await withinMs(connectMs, connecting);
      this.id = numberOf(await withinMs(connectMs, client.sendCommand<unknown>(["CLIENT", "ID"])));
      return client;
    } catch (error) {
      end(client);
      if (error instanceof RedisUrlError) throw new EventLogError("misuse", error.message, { cause: error });
      throw error;
    }
  }

  #discard(current: Promise<Client>): void {
    if (this.#current === current) this.#current = undefined;
    current.then(end, () => {});
  }
}

type Client = ReturnType<typeof newClient>;

function newClient(options: RedisOptions) {
  return createClient({
    ...options,
    RESP: 2,
    name: "sluice-event-log",
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  });
}

function end(client: Client): void {
  if (client.isOpen) client.destroy();
}
