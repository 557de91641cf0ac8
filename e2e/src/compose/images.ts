import { fileURLToPath } from "node:url";

import { version } from "@sluice/service/version.ts";

import { inheritedEnvironment } from "../config.ts";
import { docker, print } from "./docker.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const apps = ["edge-redirect", "click-ingester", "webhook-dispatcher", "cli"];
/** What our layers may add to Node's slim image, data about places aside. */
export const goalBytes = 120e6;

/** Images under the vendors' names, where the vendors' cannot be pulled. */
export async function buildStandIns(): Promise<void> {
  await print("infra/compose/stand-ins/build", [], inheritedEnvironment(), root);
}

export interface BuiltImage {
  readonly app: string;
  /** Of our layers. */
  readonly bytes: number;
  readonly seconds: number;
}

/** Builds an image of each app. */
export async function buildImages(onHostNetwork: boolean): Promise<BuiltImage[]> {
  const env = { ...inheritedEnvironment(), DOCKER_BUILDKIT: "1" };
  const images = [];
  for (const app of apps) {
    const tag = `sluice/${app}:${version}`;
    const from = performance.now();
    // Where images cannot be pulled, packages are reached over the host's network alone.
    const network = onHostNetwork ? ["--network=host"] : [];
    await docker(["build", "--quiet", ...network, `--build-arg=APP=${app}`, `--tag=${tag}`, root], env);
    const seconds = (performance.now() - from) / 1_000;
    images.push({ app, bytes: await ownBytes(tag, env), seconds });
  }
  return images;
}

/** A line each. */
export function imageFigures(images: readonly BuiltImage[]): string[] {
  return images.map(({ app, bytes, seconds }) => {
    const verdict = bytes <= goalBytes ? "met" : "missed";
    const size = `${(bytes / 1e6).toFixed(0)}  MB  <= ${goalBytes / 1e6}  ${verdict}`;
    return `${app} image  ${size}  (${seconds.toFixed(0)} s)`;
  });
}

/** Of the layers since our last base image, without the one of data about places, which is `COPY /geo`. */
async function ownBytes(tag: string, env: NodeJS.ProcessEnv): Promise<number> {
  const format = "--format={{.Size}}\t{{.CreatedBy}}";
  const layers = (await docker(["history", "--human=false", "--no-trunc", format, tag], env)).split("\n");
  let bytes = 0;
  for (const layer of layers) {
    const [size, createdBy = ""] = layer.split("\t");
    if (createdBy.startsWith("WORKDIR /sluice")) break;
    if (!createdBy.startsWith("COPY /geo")) bytes += Number(size);
  }
  return bytes;
}
