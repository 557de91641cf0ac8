import type { Log } from "@sluice/service/log.ts";
import { invalid } from "../invalid.ts";
import { openPostgres, patientConnectTimeoutMs } from "../postgres.ts";
import * as table from "../queries/targets.ts";
import { createTarget, editTarget, newSecret } from "./edit-targets.ts";
import { createKeyring } from "./keyring.ts";
import { createReader, noTarget, parse } from "./read-targets.ts";
import { reencryptAll } from "./reencrypt.ts";
import { checkReason } from "./target-checks.ts";
import type { TargetQuotas, TargetStore } from "./target-store.ts";
import { testStore } from "./test-deliveries.ts";

export interface TargetStoreOptions {
  readonly log: Log;
  /** 32 bytes each, in base64: the first encrypts, all decrypt. */
  readonly keys: readonly string[];
  readonly quotas?: Partial<TargetQuotas>;
}

/** A day for the customer to take over the new one. */
const keepSecretMs = 24 * 3_600_000;

/** As `openLinkStore`. Throws `invalid` for keys that are none. */
export function openTargetStore(url: string, { log, keys, quotas = {} }: TargetStoreOptions): TargetStore {
  const keyring = createKeyring(keys);
  const postgres = openPostgres(url, log, patientConnectTimeoutMs);
  const { query } = postgres;
  const reader = createReader(query, keyring, log);
  const { sendable, list, show, row } = reader;
  const room = { endpoints: 100, integrations: 20, pixels: 100, ...quotas };
  return {
    sendable,
    list,
    show,
    async create(workspaceId, target, now) {
      return show(await createTarget(query, keyring, { workspaceId, target, quotas: room }), now);
    },
    async edit(id, changes, now) {
      await editTarget(query, keyring, await row(id), changes);
      return show(id, now);
    },
    async delete(id) {
      const { prefix, id: number } = parse(id);
      if (!(await table.deleteTarget(query, prefix, number))) throw noTarget(id);
    },
    async rotateSecret(id, { now, keepMs = keepSecretMs }) {
      const { prefix, id: number, workspace_id: workspaceId } = await row(id);
      if (prefix !== "ep") throw invalid("target", "an endpoint: no other has a secret to sign with", id);
      const secret = keyring.encrypt(newSecret(), table.placeOf(prefix, number, workspaceId, "secret"));
      await table.replaceSecret(query, number, { secret, keepUntil: now + keepMs });
      return show(id, now);
    },
    async disable(id, reason, now) {
      const { prefix, id: number } = parse(id);
      return table.markDisabled(query, prefix, number, { reason: checkReason(reason), now });
    },
    async allowPrivate(id, allow) {
      const { prefix, id: number } = parse(id);
      if (prefix === "in") throw invalid("target", "an endpoint or a pixel", id);
      if (!(await table.setAllowPrivate(query, prefix, number, allow))) throw noTarget(id);
    },
    reencrypt: () => reencryptAll(query, keyring),
    ...testStore(query, reader),
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}
