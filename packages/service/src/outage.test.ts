import { expect, test } from "vitest";

import { silentLog, type Log } from "./log.ts";
import { createOutage } from "./outage.ts";

function watched() {
  const said: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => said.push(`${message} ${JSON.stringify(fields)}`),
    info: (fields, message) => said.push(`${message} ${JSON.stringify(fields)}`),
  };
  let clock = 0;
  const outage = createOutage(log, { which: "x" }, { failing: "fails", over: "over" }, () => clock);
  return { said, outage, at: (ms: number) => (clock = ms) };
}

test("said when first seen, then once a minute however often it is seen, then when it is over", () => {
  const { said, outage, at } = watched();
  outage.over();
  for (let ms = 0; ms <= 120_000; ms += 100) {
    at(ms);
    outage.failing(new Error(`no ${ms}`));
  }
  at(130_000);
  outage.over();
  outage.over();
  at(200_000);
  outage.failing("again");
  expect(said).toEqual([
    'fails {"which":"x","reason":"no 0","seconds":0}',
    'fails {"which":"x","reason":"no 60000","seconds":60}',
    'fails {"which":"x","reason":"no 120000","seconds":120}',
    'over {"which":"x","seconds":130}',
    'fails {"which":"x","reason":"again","seconds":0}',
  ]);
});

test("what comes and goes a thousand times a second is said once a minute", () => {
  const { said, outage, at } = watched();
  for (let ms = 0; ms < 60_000; ms++) {
    at(ms);
    outage.failing("now");
    outage.over();
  }
  expect(said).toHaveLength(2);
});
