import { setTimeout as delay } from "node:timers/promises";

import { type Rehearsal, waited } from "./rehearsal.ts";

/** One region's lines to broker, Postgres and Redis pass nothing on, and tell nobody; its visitors are redirected. */
export const regionCut: Rehearsal = {
  layout: { log: "kafka", regions: ["north", "south"], far: "south", ingesters: 1, dispatchers: 1 },
  phase: "south is cut off",
  async happen({ installation: { lines }, forMs }) {
    lines?.cut();
    await delay(forMs);
    lines?.heal();
    return [];
  },
  check(during) {
    const { most, growth } = during;
    // Half of those who were answered are north's.
    const north = most("to store north");
    return [
      // Of both regions' clicks a third has to wait, which is two thirds of its own.
      ...waited(during, "to store south"),
      ...(north > growth("answered") / 4
        ? [`north noticed: ${north} of its clicks waited to be stored`]
        : []),
    ];
  },
};
