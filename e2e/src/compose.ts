// Builds the images, starts docker-compose.yml as it stands, clicks, kills each container once and counts. Exit status 0
// when nothing is lost. `node e2e/src/compose.ts [--size full|small] [--stand-ins]`: with `--stand-ins` the servers'
// images have been made by infra/compose/stand-ins/build, which has none of Prometheus and Grafana.
import { parseArgs } from "node:util";

import { containersOf, figures, rehearse } from "./compose/rehearse.ts";
import { buildImages } from "./compose/images.ts";

const { values } = parseArgs({
  options: { size: { type: "string", default: "full" }, "stand-ins": { type: "boolean", default: false } },
});
const size = values.size === "small" ? "small" : "full";
console.log((await buildImages(values["stand-ins"])).join("\n"));
const { report, problems } = await rehearse(size, containersOf(size, values["stand-ins"]), console.log);
console.log(figures(report).join("\n"));
console.log(problems.length === 0 ? "all is well" : problems.join("\n"));
process.exitCode = problems.length === 0 ? 0 : 1;
