import { setTimeout as delay } from "node:timers/promises";
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
  readonly #url: string;
  readonly #address: string;
  #current: Promise<Client> | undefined;
  #closed = false;
  /** The server's name for the connection, by which another may end its wait. */
  id: number | undefined;

  constructor({ url, address }: { url: string; address: string }) {
    this.#url = url;
    this.#address = address;
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
      throw toEventLogError(error, this.#address);
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
    const client = newClient(this.#url);
    const connecting = open(client).then((id) => {
      this.id = id;
      return client;
    });
    // The driver has given up on it, or it fell silent: the next command makes another.
    client.on("error", () => this.#discard(connecting));
    connecting.catch(() => this.#discard(connecting));
    return connecting;
  }

  #discard(current: Promise<Client>): void {
    if (this.#current === current) this.#current = undefined;
    current.then(end, () => {});
  }
}

type Client = ReturnType<typeof newClient>;

function newClient(url: string) {
  return createClient({
    url,
    RESP: 2,
    name: "sluice-event-log",
    disableOfflineQueue: true,
    socket: { connectTimeout: connectMs, reconnectStrategy: false, keepAlive: true },
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  });
}

async function open(client: Client): Promise<number> {
  try {
    const connecting = client.connect().then(() => client.sendCommand<unknown>(["CLIENT", "ID"]));
    return numberOf(await withinMs(connectMs, connecting));
  } catch (error) {
    end(client);
    throw error;
  }
}

function end(client: Client): void {
  if (client.isOpen) client.destroy();
}
