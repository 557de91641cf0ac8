import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { expect } from "vitest";
import type { PubSub } from "../pub-sub.ts";
import { refusal, type Trial } from "./trial.ts";

const away = { code: "unavailable", retryable: true };

/** What servers and networks do. */
export const faults = {
  "a connection that is cut is made again, and subscribers are told of the gap": async (trial: Trial) => {
    await using proxy = await openTcpProxy(trial.subject.url);
    const publisher = await trial.open();
    const heard = await trial.hear(await trial.open(proxy.url));
    for (let cuts = 1; cuts <= 3; cuts += 1) {
      proxy.cut();
      await heard.until((notices) => notices.filter(({ kind }) => kind === "gap").length === cuts);
      await publisher.publish(trial.channel, `${cuts}`);
      await heard.until((notices) => notices.at(-1)?.kind === "message");
    }
    expect(heard.messages()).toEqual(["1", "2", "3"]);
  },

  "a connection that falls silent is noticed within three seconds, and calls on it end in two": async (
    trial: Trial,
  ) => {
    await using proxy = await openTcpProxy(trial.subject.url);
    const publisher = await trial.open();
    const cutOff = await trial.open(proxy.url);
    const heard = await trial.hear(cutOff);
    proxy.hang();
    const hungAt = performance.now();
    expect(await refusal(cutOff.publish(trial.channel, "x"))).toMatchObject(away);
    expect(await refusal(cutOff.ping())).toMatchObject(away);
    expect(performance.now() - hungAt).toBeLessThan(4_500);
    await expect.poll(() => trial.metric("pub_sub_connected"), { interval: 20 }).toBe(0);
    expect(performance.now() - hungAt).toBeLessThan(4_500);
    proxy.flow();
    await heard.untilGap();
    await publisher.publish(trial.channel, "heard again");
    await heard.until((notices) => notices.at(-1)?.kind === "message");
    expect(heard.messages().at(-1)).toBe("heard again");
  },

  "a server that is killed is come back to, and meanwhile calls are refused without piling up": async (
    trial: Trial,
  ) => {
    const server = trial.server();
    const pubSub = await trial.open();
    const heard = await trial.hear(pubSub);
    await server.kill();
    const flood = Array.from({ length: 2_000 }, () => refusal(pubSub.publish(trial.channel, "lost")));
    for (const refused of await Promise.all(flood)) expect(refused).toMatchObject(away);
    expect(await trial.metric("pub_sub_connected")).toBe(0);
    await server.start();
    await heard.untilGap();
    await persistently(pubSub, trial.channel, "back");
    await heard.until((notices) => notices.at(-1)?.kind === "message");
    expect(heard.messages()).toEqual(["back"]);
  },

  "one that is opened while there is no server subscribes once there is one": async (trial: Trial) => {
    await using proxy = await openTcpProxy(trial.subject.url);
    proxy.hang();
    const pubSub = await trial.open(proxy.url);
    expect(await refusal(pubSub.ping())).toMatchObject(away);
    const hearing = trial.hear(pubSub);
    proxy.flow();
    const heard = await hearing;
    await pubSub.publish(trial.channel, "x");
    await heard.until(({ length }) => length === 1);
    expect(heard.messages()).toEqual(["x"]);
  },

  "closing takes no longer than three seconds, also when the server is silent": async (trial: Trial) => {
    await using proxy = await openTcpProxy(trial.subject.url);
    const pubSub = await trial.open(proxy.url);
    await trial.hear(pubSub);
    proxy.hang();
    const closing = performance.now();
    await pubSub[Symbol.asyncDispose]();
    expect(performance.now() - closing).toBeLessThan(3_000);
  },
};

/** A message that may need a connection first. */
async function persistently(pubSub: PubSub, channel: string, message: string): Promise<void> {
  await expect.poll(() => pubSub.publish(channel, message).then(String, String)).toBe("undefined");
}
