// Builds the images, starts docker-compose.yml as it stands, has a webhook endpoint told of clicks, kills each container
// once and counts. Exit status 0 when nothing is lost. `npm run rehearse-compose -- [--size full|small] [--tls]
// [--stand-ins]`: with `--stand-ins` the servers' images are made by infra/compose/stand-ins/build, which has none of
// Grafana.
import { parseArgs } from "node:util";

import { buildImages, buildStandIns, imageFigures } from "./compose/images.ts";
import { figures, rehearse } from "./compose/rehearse.ts";

const { values } = parseArgs({
  options: {
    size: { type: "string", default: "full" },
    "stand-ins": { type: "boolean", default: false },
    tls: { type: "boolean", default: false },
  },
});
const size = values.size === "small" ? "small" : "full";
const standIns = values["stand-ins"];
const say = (line: string) => console.log(`${performance.now().toFixed(0).padStart(8)} ms  ${line}`);
if (standIns) await buildStandIns();
console.log(imageFigures(await buildImages(standIns)).join("\n"));
const report = await rehearse({ size, tls: values.tls, standIns }, say);
console.log(figures(report).join("\n"));
const problems = Object.entries(report.findings).flatMap(([promise, found]) =>
  found.map((problem) => `BROKEN: ${promise}: ${problem}`),
);
console.log(problems.length === 0 ? "all is well" : problems.join("\n"));
process.exitCode = problems.length === 0 ? 0 : 1;
