// Builds the images, starts docker-compose.yml as it stands, has a webhook endpoint told of clicks, kills each container
// once and counts. Exit status 0 when nothing is lost. `npm run rehearse-compose -- [--size full|small] [--tls]
// [--stand-ins]`: with `--stand-ins` the servers' images are made by infra/compose/stand-ins/build, which has none of
// Grafana.
import { parseArgs } from "node:util";

import { figures, rehearse } from "./compose/rehearse.ts";
import { buildImages, buildStandIns } from "./compose/images.ts";

const { values } = parseArgs({
  options: {
    size: { type: "string", default: "full" },
    "stand-ins": { type: "boolean", default: false },
    tls: { type: "boolean", default: false },
  },
});
const size = values.size === "small" ? "small" : "full";
const standIns = values["stand-ins"];
if (standIns) await buildStandIns();
console.log((await buildImages(standIns)).join("\n"));
const { report, problems } = await rehearse({ size, tls: values.tls, standIns }, console.log);
console.log(figures(report).join("\n"));
console.log(problems.length === 0 ? "all is well" : problems.join("\n"));
process.exitCode = problems.length === 0 ? 0 : 1;
