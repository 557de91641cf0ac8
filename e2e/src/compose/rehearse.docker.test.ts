import { beforeAll, describe, expect, test } from "vitest";

import { buildImages, type BuiltImage, buildStandIns, goalBytes, imageFigures } from "./images.ts";
import { figures, promisesOf, rehearse, type What } from "./rehearse.ts";

// Docker builds and runs everything here: minutes, on a machine that does nothing else.
const timeout = 900_000;

let images: readonly BuiltImage[] = [];
beforeAll(async () => {
  await buildStandIns();
  images = await buildImages(true);
  say(imageFigures(images).join("\n"));
}, timeout);

test("each app's own layers have 120 MB at most, data about places aside", () => {
  expect(images.length).toBeGreaterThan(0);
  expect(images.filter(({ bytes }) => bytes > goalBytes)).toEqual([]);
});

describe.for<What>([
  { size: "small", tls: false, standIns: true },
  { size: "full", tls: true, standIns: true },
])("docker-compose.yml, $size, each container killed once", (what) => {
  let findings: Readonly<Record<string, readonly string[]>> = {};
  beforeAll(async () => {
    const report = await rehearse(what, say);
    say(figures(report).join("\n"));
    ({ findings } = report);
  }, timeout);

  test.for(promisesOf(what))("%s", (promise) => {
    expect(findings[promise]).toEqual([]);
  });
});

function say(lines: string): void {
  process.stdout.write(`${lines}\n`);
}
