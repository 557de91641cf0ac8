import { open, rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

import { alarmsOver } from "../prometheus-over.ts";
import type { During, Rehearsal } from "./rehearsal.ts";

const diskBytes = 8 * 1024 ** 2;
const fillEveryMs = 50;
/** The smallest that a file can grow by on the disk in memory. */
const pageBytes = 4_096;

/** Others fill the disk of the edge's journal, and take whatever it gives back, until they are removed. */
export const diskFull: Rehearsal = {
  layout: {
    log: "kafka",
    regions: ["edge"],
    ingesters: 1,
    dispatchers: 1,
    edge: {
      env: { JOURNAL_SEGMENT: "256KiB", JOURNAL_BUDGET: "1GiB" },
      // A file system in memory that only the edge sees, at its journal's place.
      shell: `exec unshare --user --map-root-user --mount sh -c 'mkdir -p "$JOURNAL_DIR" &&
        mount -t tmpfs -o size=${diskBytes},mode=0777 tmpfs "$JOURNAL_DIR" && exec "$@"' sh "$@"`,
    },
  },
  phase: "the disk is full",
  async happen({ installation: { dir, edges, ingesters, dispatchers }, forMs }) {
    const [edge] = edges;
    if (edge === undefined) throw new Error("there is no edge");
    await using alarms = await alarmsOver({
      edge: edge.app.port() ?? 0,
      ingester: ingesters[0]?.port() ?? 0,
      dispatcher: dispatchers[0]?.port() ?? 0,
    });
    // The way into its file system.
    const filler = `/proc/${edge.app.pid()}/root${dir}/${edge.name}/filler`;
    await fill(filler, forMs);
    const raised = await alarms.firing();
    await rm(filler);
    return raised.includes("ClicksRefused")
      ? []
      : [`no alarm that clicks are refused, only ${raised.join()}`];
  },
  check: ({ growth }: During) =>
    growth("refused") > 0 ? [] : ["no click was refused: was the disk ever full?"],
};

async function fill(path: string, forMs: number): Promise<void> {
  await using file = await open(path, "a");
  const page = Buffer.alloc(pageBytes);
  for (const until = performance.now() + forMs; performance.now() < until; await delay(fillEveryMs)) {
    for (let room = true; room;) {
      room = await file.write(page).then(
        ({ bytesWritten }) => bytesWritten > 0,
        (error: NodeJS.ErrnoException) => {
          if (error.code === "ENOSPC") return false;
          throw error;
        },
      );
    }
  }
}
