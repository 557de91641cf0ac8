import { limits } from "@sluice/click-event/click-event.ts";
import type { Change } from "@sluice/link-store/change-feed.ts";
import { caseModes, type DomainSettings } from "@sluice/link-store/domain-store.ts";
import { normaliseDomain } from "@sluice/link-store/domain.ts";
import { Destination } from "@sluice/link-store/link-options-schema.ts";
import type { Log } from "@sluice/service/log.ts";
import { z } from "zod";

import { keepLines, readLines } from "../kept-lines.ts";
import { onceAMinute } from "../once-a-minute.ts";
import { createRecent } from "../recent.ts";

/** A host that visitors name; the same object for every spelling of it. */
export interface Domain {
  readonly name: string;
  /** As they were read last; `undefined` before that. */
  settings: DomainSettings | undefined;
  /** `performance.now()` until which they are taken without asking. */
  freshUntil: number;
  /** From then on a visitor waits for what they are now. */
  waitFrom: number;
  asking: Promise<DomainSettings> | undefined;
  /** Goes up when somebody has changed it: what was asked for before that may be as it was. */
  version: number;
}

export interface Domains extends AsyncDisposable {
  /** The domain that a Host header names; `undefined` when it is no host name. */
  named(host: string): Domain | undefined;
  /**
   * What the domain is set to: at once when it is known, however old while Postgres is away; otherwise a promise that
   * never rejects and takes no longer than `resolve`. A domain that nobody has registered is one that is not verified.
   * `undefined` when too many others are being asked for.
   */
  settingsOf(domain: Domain, at: number): DomainSettings | Promise<DomainSettings> | undefined;
  /** What somebody has changed is asked for at the next visit; a moment later no visit is answered without it. */
  readonly changed: (change: Change) => void;
}

export interface DomainsOptions {
  /** The file, beside the journal, in which domains are kept for a start while Postgres is away; written this often. */
  readonly path: string;
  readonly everyMs: number;
  /** Rejects when it cannot say; must have a time limit of its own. */
  readonly resolve: (name: string) => Promise<DomainSettings | undefined>;
  /** How long settings are taken without asking again, ± 10 %. */
  readonly ttlMs: number;
  /** The same for a domain that is not registered. */
  readonly unknownTtlMs: number;
  readonly log: Log;
}

/** An edge serves so many domains before it asks for one twice; the bound is for hosts that are made up. */
const maxDomains = 5_000;
/** Made-up hosts may not take all of Postgres's time. */
const maxAsking = 50;
/** As for links: a change of a busy domain makes nobody wait, and nobody is served the old one for longer. */
const graceMs = 250;
/** After a failure nobody waits for the next one so soon. */
const pauseMs = 1_000;

const Kept = z.object({
  name: z.string().min(1).max(limits.domain),
  workspaceId: z.int(),
  caseMode: z.enum(caseModes),
  homeUrl: z.exactOptional(Destination),
  notFoundUrl: z.exactOptional(Destination),
  verified: z.literal(true),
});

/** Never rejects. What an earlier process knew is served at once, and asked again at the first visit. */
export async function openDomains(options: DomainsOptions): Promise<Domains> {
  const { path, everyMs, log } = options;
  const domains = createRecent<string, Domain>(maxDomains);
  const spellings = createRecent<string, string>(maxDomains);
  const ask = createAsking(options);

  function get(name: string): Domain {
    const found = domains.get(name);
    if (found !== undefined) return found;
    const made: Domain = {
      name,
      settings: undefined,
      freshUntil: 0,
      waitFrom: Infinity,
      asking: undefined,
      version: 0,
    };
    domains.set(name, made);
    return made;
  }

  for (const settings of await readLines(path, Kept, log)) get(settings.name).settings = settings;
  const kept = keepLines({
    path,
    everyMs,
    values: () => domains.values().flatMap(({ settings }) => (settings?.verified === true ? [settings] : [])),
    log,
  });
  return {
    named(host) {
      // Nearly every browser sends the name as it is kept.
      const known = domains.get(host);
      if (known !== undefined) return known;
      const name = spellings.get(host) ?? normaliseDomain(host);
      if (name === undefined) return undefined;
      if (name !== host) spellings.set(host, name);
      return get(name);
    },
    settingsOf(domain, at) {
      const { settings } = domain;
      if (settings !== undefined && at < domain.freshUntil) return settings;
      const asked = ask(domain, at);
      const mayWait = settings === undefined || (at >= domain.waitFrom && asked instanceof Promise);
      return mayWait ? asked : settings;
    },
    changed(change) {
      if (change.kind === "link" || change.kind === "subscriptions") return;
      const changed = change.kind === "all" ? domains.values() : [domains.get(change.domain)];
      for (const domain of changed) if (domain !== undefined) outdate(domain);
    },
    [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose](),
  };
}

/** Asks for a domain's settings, once for all who ask meanwhile. */
function createAsking({
  resolve,
  ttlMs,
  unknownTtlMs,
  log,
}: DomainsOptions): (domain: Domain, at: number) => ReturnType<Domains["settingsOf"]> {
  const say = onceAMinute((error) => log.warn({ error }, "a domain's settings could not be read"));
  let asking = 0;
  let quietUntil = 0;

  async function read(domain: Domain): Promise<DomainSettings> {
    const { version } = domain;
    try {
      const found = await resolve(domain.name);
      domain.settings = found ?? unregistered(domain.name);
      const ms = (found === undefined ? unknownTtlMs : ttlMs) * (0.9 + 0.2 * Math.random());
      if (domain.version === version) {
        domain.freshUntil = performance.now() + ms;
        domain.waitFrom = domain.freshUntil + ms;
      }
      return domain.settings;
    } catch (error) {
      say(error);
      quietUntil = performance.now() + pauseMs;
      domain.waitFrom = Infinity;
      return domain.settings ?? assumed(domain.name);
    }
  }

  return (domain, at) => {
    if (domain.asking !== undefined) return domain.asking;
    if (at < quietUntil) return assumed(domain.name);
    if (asking >= maxAsking) return undefined;
    asking += 1;
    domain.asking = read(domain).finally(() => {
      asking -= 1;
      domain.asking = undefined;
    });
    return domain.asking;
  };
}

function outdate(domain: Domain): void {
  domain.version += 1;
  domain.freshUntil = 0;
  domain.waitFrom = Math.min(domain.waitFrom, performance.now() + graceMs);
}

function unregistered(name: string): DomainSettings {
  return { ...assumed(name), verified: false };
}

/** While nobody can say: what is in memory of a domain's links was there because the domain was verified. */
function assumed(name: string): DomainSettings {
  return { name, workspaceId: 0, caseMode: "exact", verified: true };
}
