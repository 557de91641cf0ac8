import type { Query } from "../postgres.ts";
import { type ErasedPage, eraseEvents, findErased, listWaiting } from "../queries/delivery-erasure.ts";
import type { ErasedClicks } from "./delivery-store.ts";

/** Events looked at by one statement; a tenth of a second. */
const pageSize = 5_000;

const firstId = "00000000-0000-0000-0000-000000000000";

/** Reads all events once for each erasure. */
export async function eraseDeliveries(query: Query, clicks: ErasedClicks): Promise<void> {
  for (let afterId: string | undefined = firstId; afterId !== undefined;) {
    const page: ErasedPage = await findErased(query, clicks, { afterId, limit: pageSize });
    // Once more after the last who waits: one of them may have been parked for another target meanwhile.
    for (let found = page.ids.length > 0; found;) {
      const waiting = await listWaiting(query, page.ids);
      await eraseEvents(query, page.ids, waiting);
      found = waiting.length > 0;
    }
    afterId = page.last;
  }
}
