import { eventLogContract } from "../contract.ts";
import { createMemoryStore, openMemoryEventLog } from "./event-log.ts";

eventLogContract("memory", async () => {
  const store = createMemoryStore();
  return {
    open: async () => openMemoryEventLog(store),
    tooLargeBytes: 2 * 1024 * 1024,
    // It reads straight from its store.
    ahead: { limitBytes: 1024 * 1024, bytes: () => 0 },
    async [Symbol.asyncDispose]() {},
  };
});
