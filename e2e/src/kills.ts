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

/** Kills until so many have been dealt. Resolves with how many each victim got. */
export async function killAtRandom(plan: KillPlan): Promise<Map<string, number>> {
  const dealt = new Map(plan.victims.map(({ name }) => [name, 0]));
  let left = plan.kills;
  // Every victim is hit at least once: a draw alone may spare one.
  const first = plan.victims.toSorted(() => plan.random() - 0.5);
  while (left > 0) {
    await delay(plan.meanPauseMs * (0.5 + plan.random()));
    const victim = first.pop() ?? plan.victims[Math.floor(plan.random() * plan.victims.length)];
    if (victim === undefined || !(await victim.kill())) continue;
    dealt.set(victim.name, (dealt.get(victim.name) ?? 0) + 1);
    left -= 1;
  }
  return dealt;
}
