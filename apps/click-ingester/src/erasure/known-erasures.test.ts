import { setImmediate } from "node:timers/promises";
import { listAgeMs, type StoredErasure } from "@sluice/click-store/erasures.ts";
import { expect, test } from "vitest";
import { sampleClick } from "../testing/sample-clicks.ts";
import { createKnownErasures } from "./known-erasures.ts";

const never = new AbortController().signal;
const click = sampleClick(1, 1);

interface Scene {
  ms: number;
  reads: number;
  away: boolean;
  erasures: readonly StoredErasure[];
}

function openScene() {
  const scene: Scene = { ms: 0, reads: 0, away: false, erasures: [] };
  const list = async () => {
    scene.reads += 1;
    if (scene.away) throw new Error("no answer");
    return scene.erasures;
  };
  const known = createKnownErasures({ list }, never, () => scene.ms);
  return { scene, known };
}
const erasure: StoredErasure = { workspaceId: 1, upTo: click.ts, ageMs: 0, done: false };

test("an erasure is known to who stores clicks within the time that the list may be old, and not asked for before", async () => {
  const { scene, known } = openScene();
  expect((await known.current(never)).takes(click)).toBe(false);
  scene.erasures = [erasure];
  scene.ms = listAgeMs;
  await known.current(never);
  expect(scene.reads).toBe(1);
  scene.ms += 1;
  expect((await known.current(never)).takes(click)).toBe(true);
});

test("without the list nothing is stored by an old one, and who does not wait goes on with it", async () => {
  const { scene, known } = openScene();
  scene.erasures = [erasure];
  expect(known.latest().takes(click)).toBe(false);
  await setImmediate();
  expect(known.latest().takes(click)).toBe(true);
  scene.away = true;
  scene.ms = listAgeMs + 1;
  await expect(known.current(never)).rejects.toThrow("no answer");
  expect(known.latest().takes(click)).toBe(true);
  await setImmediate();
  expect(known.latest().takes(click)).toBe(true);
  expect(scene.reads).toBeGreaterThan(2);
});
