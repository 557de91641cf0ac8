import { setTimeout as delay } from "node:timers/promises";

/** Something that may be killed. */
export interface Victim {
  readonly name: string;
  /** `kill -9`, now; returns false when it was not running. Resolves when it has been dealt the blow, not later. */
  kill(): Promise<boolean>;
}

export interface KillPlan {
  readonly victims: readonly Victim[];
  readonly kills: number;
  /** The mean time between two; each is drawn from half to one and a half of it. */
  readonly meanPauseMs: number;
  readonly random: () => number;
}

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
    await delay(meanPauseMs * (0.5 + random()));
    if (waiting.length === 0) waiting = [...victims];
    const victim = waiting[Math.floor(random() * waiting.length)];
    if (victim === undefined || !(await victim.kill())) continue;
    waiting = waiting.filter((other) => other !== victim);
    dealt.set(victim.name, (dealt.get(victim.name) ?? 0) + 1);
    left -= 1;
  }
  return dealt;
}
