import { ClickStoreError, type Trouble, troubleOf } from "@sluice/click-store/click-store.ts";

/** Waits on a store that is away or has to be set right by a person, and tells of it. */
export function onStoreTrouble(seen: (trouble: Trouble) => void) {
  return (error: unknown, attempt: number): boolean => {
    if (!(error instanceof ClickStoreError) || error.class === "row") return false;
    seen(troubleOf(error, attempt));
    return true;
  };
}
