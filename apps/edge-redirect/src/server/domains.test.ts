import { join } from "node:path";

import type { DomainSettings } from "@sluice/link-store/domain-store.ts";
import { silentLog } from "@sluice/service/log.ts";
import { tempDir, type TempDir } from "@sluice/testkit/temp-dir.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { openDomains, type Domain, type Domains } from "./domains.ts";

let dir: TempDir;
beforeEach(async () => {
  dir = await tempDir();
});
afterEach(() => dir[Symbol.asyncDispose]());

const name = "go.example.com";
const settings: DomainSettings = { name, workspaceId: 1, caseMode: "insensitive", verified: true };

interface Trial {
  readonly domains: Domains;
  readonly domain: Domain;
  /** What has been asked for; each question waits for an answer. */
  readonly asked: { readonly name: string; answer(settings?: DomainSettings): void; fail(): void }[];
}

async function open({ ttlMs = 60_000, unknownTtlMs = 60_000 } = {}): Promise<Trial> {
  const asked: Trial["asked"] = [];
  const domains = await openDomains({
    path: join(dir.path, "domains.ndjson"),
    everyMs: 3_600_000,
    resolve(asking) {
      const { promise, resolve, reject } = Promise.withResolvers<DomainSettings | undefined>();
      asked.push({ name: asking, answer: resolve, fail: () => reject(new Error("Postgres is away")) });
      return promise;
    },
    ttlMs,
    unknownTtlMs,
    log: silentLog,
  });
  const domain = domains.named(name);
  if (domain === undefined) throw new Error("no domain");
  return { domains, domain, asked };
}

/** A visit that does not wait for its answer. */
function visitOf(domains: Domains, domain: Domain): void {
  Promise.resolve(domains.settingsOf(domain, performance.now())).catch(() => {});
}

/** What a visit that comes now is answered with. */
async function ask({ domains, domain, asked }: Trial, answer: DomainSettings | undefined = settings) {
  const asking = domains.settingsOf(domain, performance.now());
  asked.at(-1)?.answer(answer);
  return await asking;
}

describe("a domain", () => {
  it("is the same in every spelling of its host, and none where there is no host name", async () => {
    const { domains, domain } = await open();
    for (const host of ["GO.Example.com", "go.example.com:8080", "go.example.com."]) {
      expect(domains.named(host)).toBe(domain);
      expect(domains.named(host)).toBe(domain);
    }
    // A22
    expect(domains.named("aïo.li")).toBe(domains.named("xn--ao-tja.li"));
    expect(domains.named("a b")).toBeUndefined();
  });

  it("is asked for once by all who come meanwhile, and then not again while it is fresh", async () => {
    const trial = await open();
    const { domains, domain, asked } = trial;
    const [first, second] = [domains.settingsOf(domain, 0), domains.settingsOf(domain, 0)];
    expect(asked).toHaveLength(1);
    asked[0]?.answer(settings);
    expect([await first, await second]).toEqual([settings, settings]);
    expect(domains.settingsOf(domain, performance.now())).toBe(settings);
    expect(asked).toHaveLength(1);
  });

  it("past its time is served as it was while it is asked for again", async () => {
    const trial = await open({ ttlMs: 1_000 });
    await ask(trial);
    expect(trial.domains.settingsOf(trial.domain, performance.now() + 1_150)).toBe(settings);
    const changed = { ...settings, verified: false };
    trial.asked[1]?.answer(changed);
    await expect.poll(() => trial.domain.settings).toBe(changed);
  });

  it("that nobody has registered is not verified, and not asked for again at once", async () => {
    const trial = await open();
    visitOf(trial.domains, trial.domain);
    trial.asked[0]?.answer(undefined);
    await expect.poll(() => trial.domain.settings).toMatchObject({ verified: false });
    expect(trial.domains.settingsOf(trial.domain, performance.now())).toMatchObject({ verified: false });
    expect(trial.asked).toHaveLength(1);
  });

  it("is served as it was last while Postgres is away, and taken for verified when it was never read", async () => {
    const trial = await open({ ttlMs: 0 });
    await ask(trial);
    visitOf(trial.domains, trial.domain);
    trial.asked[1]?.fail();
    await expect.poll(() => trial.domain.asking).toBeUndefined();
    expect(trial.domains.settingsOf(trial.domain, performance.now())).toBe(settings);
    const other = trial.domains.named("other.example.com");
    if (other === undefined) throw new Error("no domain");
    // At once: after a failure nobody waits for the next one.
    expect(trial.domains.settingsOf(other, performance.now())).toMatchObject({ verified: true });
    expect(trial.asked).toHaveLength(2);
  });

  it("never asks for more than 50 at a time, whatever hosts are made up", async () => {
    const { domains, domain, asked } = await open();
    for (let index = 0; index < 200; index += 1) {
      const made = domains.named(`host-${index}.example.com`);
      if (made !== undefined) visitOf(domains, made);
    }
    expect(asked).toHaveLength(50);
    expect(domains.settingsOf(domain, performance.now())).toBeUndefined();
  });

  it.each([{ kind: "domain", domain: name, position: 1 } as const, { kind: "all", position: 1 } as const])(
    "that has changed is asked for at its next visit: %j",
    async (change) => {
      const trial = await open();
      await ask(trial);
      trial.domains.changed({ kind: "domain", domain: "other.example.com", position: 1 });
      trial.domains.changed({ kind: "link", domain: name, slug: "x", position: 1 });
      visitOf(trial.domains, trial.domain);
      expect(trial.asked).toHaveLength(1);
      trial.domains.changed(change);
      visitOf(trial.domains, trial.domain);
      expect(trial.asked).toHaveLength(2);
    },
  );

  it("that changes while it is asked for is asked for again", async () => {
    const trial = await open();
    const asking = trial.domains.settingsOf(trial.domain, 0);
    trial.domains.changed({ kind: "domain", domain: name, position: 1 });
    trial.asked[0]?.answer(settings);
    await asking;
    visitOf(trial.domains, trial.domain);
    expect(trial.asked).toHaveLength(2);
  });

  it("that was changed is not served as it was to who comes later, unless Postgres is away", async () => {
    const trial = await open();
    const { domains, domain, asked } = trial;
    await ask(trial);
    domains.changed({ kind: "domain", domain: name, position: 1 });
    const soon = performance.now();
    expect(domains.settingsOf(domain, soon)).toEqual(settings);
    const later = domains.settingsOf(domain, soon + 300);
    expect(later).toBeInstanceOf(Promise);
    expect(asked).toHaveLength(2);
    asked.at(-1)?.fail();
    expect(await later).toEqual(settings);
    expect(domains.settingsOf(domain, soon + 5_000)).toEqual(settings);
    const changed = { ...settings, homeUrl: "https://example.com/" };
    asked.at(-1)?.answer(changed);
    await domain.asking;
    expect(domains.settingsOf(domain, performance.now())).toEqual(changed);
  });

  it("that nobody has visited for long is waited for", async () => {
    const trial = await open({ ttlMs: 1_000 });
    await ask(trial);
    const { domains, domain } = trial;
    expect(domains.settingsOf(domain, performance.now() + 1_200)).toEqual(settings);
    expect(domains.settingsOf(domain, performance.now() + 10_000)).toBeInstanceOf(Promise);
  });

  it("is known after a restart, and asked for again", async () => {
    const before = await open();
    await ask(before);
    const other = before.domains.named("other.example.com");
    if (other !== undefined) visitOf(before.domains, other);
    before.asked.at(-1)?.answer(undefined);
    await expect.poll(() => other?.settings).toMatchObject({ verified: false });
    await before.domains[Symbol.asyncDispose]();
    const after = await open();
    expect(after.domains.settingsOf(after.domain, 0)).toEqual(settings);
    expect(after.asked).toHaveLength(1);
  });
});
