import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { createEnricher } from "@sluice/click-event/enrich.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import type { Rollup } from "../../rollup.ts";
import { openStatistics } from "../../statistics.ts";
import { uuidv7 } from "../../testing/clicks.ts";
import { eleven } from "../../testing/statistics-questions.ts";
import { connect, type Connection } from "../connection.ts";
import { openClickHouse } from "../open.ts";
import { createRollup } from "../rollup/open.ts";
import { never, withDatabase, type World } from "./world.ts";

// For tests: clicks, whoever counts them, and what may happen to both.

/** Of somebody who is killed: how many statements are answered before, and whether one more is sent. */
interface Life {
  readonly statements: number;
  readonly sends: boolean;
}

class Killed extends Error {}

function unlessKilled(error: unknown): void {
  if (!(error instanceof Killed)) throw error;
}

/** A connection of somebody who is killed after so many answers; `before` happens before each statement. */
function mortal(
  connection: Connection,
  { statements, sends }: Life,
  before: (number: number) => Promise<void>,
): Connection {
  let answered = 0;
  async function statement<T>(send: () => Promise<T>): Promise<T> {
    await before(answered);
    if (answered === statements) {
      if (sends) await send();
      throw new Killed();
    }
    const answer = await send();
    answered += 1;
    return answer;
  }
  return {
    ...connection,
    select: (...args) => statement(() => connection.select(...args)),
    command: (...args) => statement(() => connection.command(...args)),
  };
}

export async function openScene(world: World) {
  for (const table of ["click_events", "click_rollup", "click_rollup_marks"])
    await world.command(`TRUNCATE TABLE ${table}`);
  const connection = connect(world.url);
  const statistics = await openStatistics(world.url);
  const enrich = createEnricher({ cacheSize: 10 });
  const stored: ClickEvent[] = [];

  /** By an ingester that has just started, and so remembers no mark; killed as soon as the rows are in, or not. */
  async function insert(events: readonly ClickEvent[], killed = false): Promise<void> {
    const url = withDatabase(world.proxy.url, new URL(world.url).pathname.slice(1));
    await using store = openClickHouse(url, { log: silentLog, metrics: createMetrics(), owner: "test" });
    if (killed) world.proxy.faults.push({ kind: "answer lost" });
    const death = new AbortController();
    const rows = events.map((event) => store.encodeClick(event, enrich(event)));
    await store
      .insertClicks(rows, { signal: death.signal, onTrouble: () => death.abort(new Killed()) })
      .catch(unlessKilled);
    stored.push(...events);
  }
  return {
    clicks: (fields: readonly Partial<ClickEvent>[], killed = false) =>
      insert(
        fields.map((each) => sampleClick({ ...each, event_id: uuidv7(), edge_run: uuidv7() })),
        killed,
      ),
    again: (from: number, count: number) => {
      const first = stored.length === 0 ? 0 : from % stored.length;
      return insert(stored.slice(first, first + count));
    },
    async delete(way: string, visitor: string) {
      const rollup = createRollup(connection, 0);
      for (const workspaceId of [1, 2]) await rollup.markChanged({ workspaceId, ...eleven }, never);
      await world.command(
        way === "heavy"
          ? `ALTER TABLE click_events DELETE WHERE visitor = '${visitor}' SETTINGS mutations_sync = 1`
          : `DELETE FROM click_events WHERE visitor = '${visitor}'`,
      );
      for (const workspaceId of [1, 2]) await rollup.markChanged({ workspaceId, ...eleven }, never);
    },
    /** To its end, or until it is killed; `meanwhile` happens between its statements. */
    async job(life: Life & { readonly limit: number }, meanwhile?: () => Promise<void>) {
      const own = mortal(connection, life, async (number) => {
        // Between choosing the hours and counting them, and between counting and noting it.
        if (number > 0) await meanwhile?.();
      });
      const options = { limit: life.limit, skip: 0 };
      await createRollup(own, 0).recount(options, never).catch(unlessKilled);
    },
    /** All that has changed. */
    async finish() {
      while ((await createRollup(connection, 0).recount({ limit: 300, skip: 0 }, never)) > 0);
    },
    twoJobs: () =>
      Promise.all([1, 2].map(() => createRollup(connection, 0).recount({ limit: 300, skip: 0 }, never))),
    markChanged: (range: Parameters<Rollup["markChanged"]>[0]) =>
      createRollup(connection, 0).markChanged(range, never),
    changedHours: async () => (await createRollup(connection, 0).backlog(never)).hours,
    statistics,
    async [Symbol.asyncDispose]() {
      await statistics[Symbol.asyncDispose]();
      await connection[Symbol.asyncDispose]();
    },
  };
}
