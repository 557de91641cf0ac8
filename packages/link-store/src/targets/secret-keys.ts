import { list } from "@sluice/service/config-fields.ts";

/** A configuration field: the keys under which credentials are kept. The first encrypts, all decrypt. */
export function secretKeys() {
  const takes = "keys of 32 bytes in base64, separated by commas";
  return list(takes)
    .refine((keys) => keys.every((key) => Buffer.from(key, "base64").length === 32))
    .meta({ takes, secret: true });
}
