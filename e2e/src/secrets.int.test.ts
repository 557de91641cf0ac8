import { execFile } from "node:child_process";
import { createServer, get } from "node:http";
import { fileURLToPath } from "node:url";

import { type AppProcess, startApp } from "@sluice/testkit/app-process.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { listenOnLoopback } from "@sluice/testkit/loopback.ts";
import { expect, test } from "vitest";

import { inheritedEnvironment } from "./config.ts";
import { foundIn, secret, secrets, watchCommandLines } from "./secrets/search.ts";
import { environments, openServers } from "./secrets/servers.ts";

// Every secret has a value that is nowhere else, and everything that anybody could read is searched for all of them.

const main = (app: string) => new URL(`../../apps/${app}/src/main.ts`, import.meta.url);

interface Outcome {
  readonly out: string;
  readonly err: string;
}

function sluice(env: NodeJS.ProcessEnv, args: readonly string[], input = ""): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [fileURLToPath(main("cli")), ...args],
      { env: { ...inheritedEnvironment(), ...env } },
      (_error, out, err) => resolve({ out, err }),
    );
    child.stdin?.end(input);
  });
}

const refusals = /password authentication failed|WRONGPASS|AUTHENTICATION_FAILED/;
const patience = { timeout: 60_000, interval: 100 };
const said = (app: AppProcess) => JSON.stringify(app.lines) + app.stderr();

const apps = ["edge-redirect", "click-ingester", "webhook-dispatcher"] as const;

/** Of one process after the other: what it has printed, once it has said something like this. */
async function printedBy(
  environment: Readonly<Record<string, string>>,
  app: string,
  wanted: RegExp,
): Promise<string> {
  await using process = startApp(main(app), { ...environment, LOG_LEVEL: "debug" });
  await expect.poll(() => said(process), patience).toMatch(wanted);
  return said(process);
}

/** The status that a visitor of the link gets. */
async function visit(port: number): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path: "/s", headers: { host: "go.example" } };
    get(options, (response) => resolve(response.resume().statusCode)).on("error", reject);
  });
}

describeWith("no secret can be read", openServers, (servers) => {
  const printed: string[] = [];
  let stopWatching: ReturnType<typeof watchCommandLines> | undefined;

  test("while all is well: a click becomes a webhook", async () => {
    stopWatching = watchCommandLines();
    const env = environments(servers(), secret);
    const tell = async (args: readonly string[], input = "") => {
      const outcome = await sluice({ ...env.owner, ...env.services }, args, input);
      // What is printed as the result of making an endpoint is its secret, on purpose.
      printed.push(outcome.err);
      return outcome.out.trim().split("\n");
    };
    expect(await tell(["setup"])).toContain("access: links: edge is the edge's");
    await tell(["domain", "add", "go.example"]);
    await tell(["domain", "verify", "go.example", "--trust"]);
    await tell(["link", "create", "https://example.com/", "--domain", "go.example", "--slug", "s"]);
    let taken = 0;
    await using receiver = {
      server: createServer((request, response) => {
        if (request.headers["x-token"] === secret("header")) taken += 1;
        request.resume().on("end", () => response.end());
      }),
      [Symbol.asyncDispose]: async () => void receiver.server.close(),
    };
    const hook = `http://127.0.0.1:${await listenOnLoopback(receiver.server)}/?key=${secret("endpoint's URL")}`;
    const endpoint = ["endpoint", "create", hook, "--bots", "--no-test"];
    const [id = "", signing = ""] = await tell([...endpoint, "--header", "x-token: -"], secret("header"));
    expect(signing).toMatch(/^whsec_/);
    secrets.set("signing secret", signing);
    await tell(["endpoint", "allow-private", id]);
    const vendor = ["integration", "create", "ga4", "--no-test"];
    await tell(
      [...vendor, "--set", "measurement_id=G-ABCDEFGHIJ", "--set", "api_secret=-"],
      secret("vendor's token"),
    );
    await using edge = startApp(main("edge-redirect"), { ...env["edge-redirect"], LOG_LEVEL: "debug" });
    await using ingester = startApp(main("click-ingester"), { ...env["click-ingester"], LOG_LEVEL: "debug" });
    await using dispatcher = startApp(main("webhook-dispatcher"), {
      ...env["webhook-dispatcher"],
      LOG_LEVEL: "debug",
    });
    const { port } = await edge.said("listening for visitors");
    await tell(["endpoint", "test", id]);
    await expect.poll(() => visit(Number(port)), patience).toBe(302);
    await expect.poll(() => taken, patience).toBeGreaterThan(1);
    await expect
      .poll(async () => (await tell(["stats", "s", "--domain", "go.example"])).join(" "), patience)
      .toMatch(/[1-9]/);
    for (const app of [edge, ingester, dispatcher]) {
      const { port: opsPort } = await app.said("operations server listening");
      const metrics = await fetch(`http://127.0.0.1:${String(opsPort)}/metrics`);
      printed.push(said(app), JSON.stringify(await app.readiness()), await metrics.text());
    }
  });

  test("when servers refuse the login", async () => {
    const env = environments(servers(), (name) =>
      /^(?:SECRET|VARIANT|NOTICE)/.test(name) ? secret(name) : secret(`wrong ${name}`),
    );
    printed.push(...(await Promise.all(apps.map((app) => printedBy(env[app], app, refusals)))));
    for (const args of [["setup"], ["dead-letters", "list"], ["live"]]) {
      const { out, err } = await sluice({ ...env.owner, ...env.services }, args);
      expect(err).toMatch(refusals);
      printed.push(out, err);
    }
  });

  test("when a variable is not what it is to be", async () => {
    const tooShort = "canary-short";
    secrets.set("too short", tooShort);
    const wrongs = apps.map(async (app) => {
      const wrong = {
        DATABASE_URL: `postgres//edge:${secret("half a URL")}@localhost`,
        EVENT_LOG_URL: `http://a:${secret("of no log")}@localhost`,
        CLICK_STORE_URL: `ftp://a:${secret("of another scheme")}@localhost`,
        SECRET_KEYS: secret("no key"),
        VARIANT_KEY: tooShort,
        NOTICE_SECRET: tooShort,
      };
      await using process = startApp(main(app), wrong);
      expect(await process.ended).toBe(78);
      expect(said(process)).toContain("EVENT_LOG_URL");
      return said(process);
    });
    printed.push(...(await Promise.all(wrongs)));
    const { out, err } = await sluice({ DATABASE_URL: `http://a:${secret("of http")}@localhost` }, [
      "link",
      "list",
    ]);
    expect(err).toContain("DATABASE_URL");
    printed.push(out, err);
  });

  test("when servers are away, and in what they have logged themselves", async () => {
    printed.push(await servers().serverLogs());
    const env = environments(servers(), secret);
    await servers().stop();
    printed.push(...(await Promise.all(apps.map((app) => printedBy(env[app], app, /ECONNREFUSED/)))));
    for (const args of [["setup", "--wait", "1"], ["dead-letters", "list"], ["live"]]) {
      const { out, err } = await sluice({ ...env.owner, ...env.services }, args);
      expect(err).toMatch(/ECONNREFUSED/);
      printed.push(out, err);
    }
  });

  test("neither in anything that was printed nor on a command line of any process", async () => {
    const watched = await stopWatching?.();
    expect(watched?.looks).toBeGreaterThan(20);
    // A customer's address, which the operator has typed.
    expect(watched?.seen).toEqual(["endpoint's URL"]);
    expect(secrets.size).toBeGreaterThan(30);
    expect(printed.join("").length).toBeGreaterThan(10_000);
    expect(printed.flatMap((text) => foundIn(text).map((name) => `${name}: ${text.slice(0, 500)}`))).toEqual(
      [],
    );
    // The search finds what is there.
    const [[name, value] = ["", ""]] = secrets;
    expect(foundIn(`Basic ${Buffer.from(`user:${value}`).toString("base64")}`)).toEqual([name]);
    expect(foundIn(`at //u:${value}@h`)).toEqual([name]);
  });
});
