import type { DeliveryStore } from "@sluice/link-store/deliveries/delivery-store.ts";
import { openDeliveryStore } from "@sluice/link-store/deliveries/open-deliveries.ts";
import { openTargetStore } from "@sluice/link-store/targets/open-targets.ts";
import type { TargetStore } from "@sluice/link-store/targets/target-store.ts";

import type { Context } from "./context.ts";

export async function openTargets({ addresses, log, note }: Context): Promise<TargetStore> {
  const keys = await addresses.secretKeys();
  // What a list leaves out, whoever asked for it should hear.
  const error = (fields: object, message: string) => note(`${Object.values(fields).join(": ")}: ${message}`);
  return openTargetStore(await addresses.databaseUrl(), { log: { ...log, error }, keys });
}

export async function openDeliveries({ addresses, log }: Context): Promise<DeliveryStore> {
  return openDeliveryStore(await addresses.databaseUrl(), { log });
}
