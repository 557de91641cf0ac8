import { setTimeout as delay } from "node:timers/promises";

import type { Victim } from "./victims.ts";

export interface KillPlan {
  readonly victims: readonly Victim[];
  readonly kills: number;
  /** The mean time between two. */
  readonly meanPauseMs: number;
  readonly random: () => number;
}

/** Within this time of another kill the first victim is still down, or has only just come back. */
const togetherMs = 1_000;
/** How many of the kills come so soon. */
const together = 2 / 3;

/**
 * Kills until so many have been dealt, and resolves with how many each victim got. Everyone has a turn before
 * anyone has another; one that is down is passed over until it is up.
 */
export async function killAtRandom({
  victims,
  kills,
  meanPauseMs,
  random,
}: KillPlan): Promise<Map<string, number>> {
  const dealt = new Map(victims.map(({ name }) => [name, 0]));
  let waiting: Victim[] = [];
  for (let left = kills; left > 0;) {
    // What is safe against each failure alone may not be safe against two: a position that is committed too early
    // is found out when the store is away and then the ingester is killed.
    const alone = (meanPauseMs - (together * togetherMs) / 2) / (1 - together);
    await delay(random() < together ? togetherMs * random() : alone * (0.5 + random()));
    if (waiting.length === 0) waiting = [...victims];
    const victim = waiting[Math.floor(random() * waiting.length)];
    if (victim === undefined || !(await victim.kill())) continue;
    waiting = waiting.filter((other) => other !== victim);
    dealt.set(victim.name, (dealt.get(victim.name) ?? 0) + 1);
    left -= 1;
  }
  return dealt;
}
