import { connect, type Socket } from "node:net";

/** Visitors of one link at a steady rate, and what they were answered. */
export interface SteadyLoad extends AsyncDisposable {
  /** Visitors redirected so far. */
  redirected(): number;
  /** Those who got anything else. */
  readonly others: ReadonlyMap<string, number>;
  /** By location, the moment (`performance.now()`) when a visitor was last sent there. */
  readonly lastSentTo: ReadonlyMap<string, number>;
  /** Resolves when a visitor has been sent there. Rejects after ten seconds. */
  sentTo(location: string): Promise<void>;
}

const connections = 2;
const batchEveryMs = 10;

/** Pipelined, so that the load costs less than the edge does. */
export async function startSteadyLoad(port: number, path: string, perSecond: number): Promise<SteadyLoad> {
  const lastSentTo = new Map<string, number>();
  const others = new Map<string, number>();
  const answers = new EventTarget();
  let redirected = 0;
  const perBatch = Math.ceil((perSecond * batchEveryMs) / 1_000 / connections);
  const batch = `GET ${path} HTTP/1.1\r\nhost: go.example.com\r\nuser-agent: test\r\n\r\n`.repeat(perBatch);

  function note(head: string): void {
    const location = /^location: (.*)$/im.exec(head)?.[1];
    if (location === undefined) {
      const status = /HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? "none";
      others.set(status, (others.get(status) ?? 0) + 1);
    } else {
      redirected += 1;
      lastSentTo.set(location, performance.now());
    }
  }
  function visitAlong(socket: Socket): void {
    let ahead = 0;
    let rest = "";
    const timer = setInterval(() => {
      // An edge that cannot keep up is asked less often.
      if (ahead > 0) return;
      ahead += perBatch;
      socket.write(batch);
    }, batchEveryMs);
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      const heads = (rest + text).split("\r\n\r\n");
      rest = heads.pop() ?? "";
      ahead -= heads.length;
      for (const head of heads) note(head);
      answers.dispatchEvent(new Event("answers"));
    });
    socket.on("close", () => clearInterval(timer));
    socket.on("error", () => {});
  }
  const sockets = Array.from({ length: connections }, () => connect(port, "127.0.0.1"));
  for (const socket of sockets) visitAlong(socket);
  return {
    redirected: () => redirected,
    others,
    lastSentTo,
    async sentTo(location) {
      const sent = Promise.withResolvers<void>();
      const look = () => {
        if (lastSentTo.has(location)) sent.resolve();
      };
      answers.addEventListener("answers", look);
      const tooLong = setTimeout(() => sent.reject(new Error(`nobody was sent to ${location}`)), 10_000);
      await sent.promise.finally(() => {
        clearTimeout(tooLong);
        answers.removeEventListener("answers", look);
      });
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
