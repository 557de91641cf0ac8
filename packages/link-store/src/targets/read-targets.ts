import type { Log } from "@sluice/service/log.ts";
import { LinkStoreError } from "../link-store.ts";
import type { Query } from "../postgres.ts";
import { findTarget, listSendable, listWorkspaceTargets, type TargetRow } from "../queries/targets.ts";
import { type Keyring, UnreadableSecret } from "./keyring.ts";
import { openRow } from "./sealed.ts";
import { parseTargetId, targetId, targetPrefixes } from "./target-id.ts";
import type { TargetStore } from "./target-store.ts";
import type { Target, TargetId } from "./target.ts";

export interface TargetReader extends Pick<TargetStore, "sendable" | "list" | "show"> {
  /** Still encrypted. Rejects with `not-found`. */
  readonly row: (id: TargetId) => Promise<TargetRow>;
  /** Decrypted, without those that cannot be, of which a person should hear. */
  readonly readable: (rows: readonly TargetRow[], now: number) => readonly Target[];
}

/** Some 100 ms of a busy Postgres: rows of a few KiB, with their secrets. */
const pageSize = 2_000;

export function createReader(query: Query, keys: Keyring, log: Log): TargetReader {
  async function row(id: TargetId): Promise<TargetRow> {
    const { prefix, id: number } = parse(id);
    const found = await findTarget(query, prefix, number);
    if (found === undefined) throw noTarget(id);
    return found;
  }

  function readable(rows: readonly TargetRow[], now: number): readonly Target[] {
    return rows.flatMap((each) => {
      try {
        return [openRow(keys, each, now)];
      } catch (error) {
        if (!(error instanceof UnreadableSecret)) throw error;
        const fields = { target: targetId(each.prefix, each.id), reason: error.message };
        log.error(fields, "a target's secrets cannot be decrypted: nothing is sent to it");
        return [];
      }
    });
  }

  return {
    row,
    readable,
    async sendable(now) {
      const found: Target[] = [];
      for (const prefix of targetPrefixes) {
        for (let afterId = 0; ;) {
          const page = await listSendable(query, prefix, afterId, pageSize);
          for (const target of readable(page, now)) found.push(target);
          if (page.length < pageSize) break;
          afterId = page.at(-1)?.id ?? afterId;
        }
      }
      return found;
    },
    list: async (workspaceId, now) => readable(await listWorkspaceTargets(query, workspaceId), now),
    async show(id, now) {
      const found = await row(id);
      try {
        return openRow(keys, found, now);
      } catch (error) {
        if (!(error instanceof UnreadableSecret)) throw error;
        const message = `secrets of ${id} cannot be decrypted: ${error.message}`;
        throw new LinkStoreError("invalid", message, { cause: error });
      }
    },
  };
}

/** Throws `not-found` for what names no target. */
export function parse(id: TargetId) {
  const parsed = parseTargetId(id);
  if (parsed === undefined) throw noTarget(id);
  return parsed;
}

export function noTarget(id: TargetId): LinkStoreError {
  return new LinkStoreError("not-found", `there is no target ${id}`);
}
