import { Agent, request } from "node:http";
import { connect } from "node:net";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Visit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The address to come from: one of 127.0.0.0/8. */
  readonly from?: string;
  readonly agent?: Agent;
}

/** One request for `go.example.com` that follows nothing. Rejects when there is no answer. */
export function visit(
  port: number,
  path: string,
  { method = "GET", headers, body: sent, from, agent }: Visit = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({
      host: "127.0.0.1",
      port,
      path,
      method,
      headers: { host: "go.example.com", ...headers },
      ...(from !== undefined && { localAddress: from }),
      ...(agent === undefined ? { agent: false } : { agent }),
    });
    asked.once("error", reject);
    asked.once("response", (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => (body += text));
      response.once("error", reject);
      response.once("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    asked.end(sent);
  });
}

/** Sends these bytes and gives all that comes back until the server closes the connection. */
export function sendRaw(
  port: number,
  bytes: string | Uint8Array,
  { from }: Pick<Visit, "from"> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const local = from === undefined ? {} : { localAddress: from };
    const socket = connect({ port, host: "127.0.0.1", ...local }, () => socket.write(bytes));
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => (answer += text));
    // A server that ends with data unread resets: what it said before counts.
    socket.once("error", (error) => (answer === "" ? reject(error) : resolve(answer)));
    socket.once("close", () => resolve(answer));
  });
}
