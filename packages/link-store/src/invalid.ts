import { LinkStoreError } from "./link-store.ts";

/** The error that says which field is wrong, what it takes and what it got. */
export function invalid(field: string, takes: string, got: unknown): LinkStoreError {
  const shown = JSON.stringify(got) ?? "nothing";
  const short = shown.length > 100 ? `${shown.slice(0, 100)}…` : shown;
  return new LinkStoreError("invalid", `${field} takes ${takes}; got ${short}`);
}
