import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";

import { choosePort } from "@sluice/local-services/port.ts";
import { queryPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";

import { inheritedEnvironment } from "../config.ts";
import type { StoreKind } from "../system.ts";
import { composeCommand, docker, print } from "./docker.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

const projectName = "sluice-rehearsal";
const ofProject = `label=com.docker.compose.project=${projectName}`;
const ofService = "label=com.docker.compose.service";

export type Size = "full" | "small";

/** docker-compose.yml as it stands, with its `.env` by init, beside whatever else runs on this machine. */
export interface Project extends AsyncDisposable {
  readonly store: StoreKind;
  readonly edgePort: number;
  /** `docker compose …` in it. */
  compose(...args: string[]): Promise<string>;
  /** `docker …` */
  docker(...args: string[]): Promise<string>;
  /** The id of a service's container. */
  container(service: string): Promise<string>;
  /** This machine's address in the network of the containers, which they can reach and nobody outside. */
  gateway(): Promise<string>;
  /** A field of `docker inspect`, as a template. */
  inspect(id: string, template: string): Promise<string>;
  /** Name and memory of containers, a line each. */
  memory(ids: readonly string[]): Promise<string[]>;
  /** The rows of a query to the click store, columns separated by tabs. */
  query(statement: string): Promise<string[]>;
}

/** With `tls` Caddy too, at this machine's ports 80 and 443. Disposing removes its containers and volumes. */
export async function openProject(size: Size, tls: boolean): Promise<Project> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await tempDir());
  for (const name of ["docker-compose.yml", "infra/compose", "infra/prometheus", "infra/grafana"])
    await cp(join(root, name), join(path, name), { recursive: true });
  await print(join(path, "infra/compose/init"), [size, ...(tls ? ["tls"] : [])], inheritedEnvironment());
  const caddyfile = join(path, "infra/compose/caddy/Caddyfile");
  // Its own authority instead of one that would ask for the domains over the internet.
  await writeFile(caddyfile, (await readFile(caddyfile, "utf8")).replace("{\n", "{\n\tlocal_certs\n"));
  const written = parseEnv(await readFile(join(path, ".env"), "utf8"));
  const [edgePort, storePort] = [await freePort(), await freePort()];
  const env = {
    ...inheritedEnvironment(),
    COMPOSE_PROJECT_NAME: projectName,
    SLUICE_EDGE_ADDRESS: `127.0.0.1:${edgePort}`,
    SLUICE_CLICKHOUSE_PORT: String(storePort),
    SLUICE_POSTGRES_PORT: String(size === "small" ? storePort : await freePort()),
    // For an endpoint on this machine.
    SLUICE_ALLOW_HTTP: "true",
    SLUICE_ALLOWED_PORTS: "any",
    SLUICE_PROMETHEUS_PORT: String(await freePort()),
    SLUICE_GRAFANA_PORT: String(await freePort()),
  };
  const [file = "", ...words] = await composeCommand(env);
  const compose = (...args: string[]) => print(file, [...words, ...args], env, path);
  stack.defer(async () => void (await compose("down", "--volumes", "--timeout=1")));
  const opened = stack.move();
  return {
    store: size === "small" ? "postgres" : "clickhouse",
    edgePort,
    compose,
    docker: (...args) => docker(args, env),
    // Asked of Docker itself: the older compose takes half a second for every answer.
    container: (service) =>
      docker(["ps", "--all", "--quiet", `--filter=${ofProject}`, `--filter=${ofService}=${service}`], env),
    gateway: () =>
      docker(
        ["network", "inspect", "--format", "{{(index .IPAM.Config 0).Gateway}}", `${projectName}_default`],
        env,
      ),
    inspect: (id, template) => docker(["inspect", "--format", template, id], env),
    memory: async (ids) =>
      (await docker(["stats", "--no-stream", "--format", "{{.Name}}  {{.MemUsage}}", ...ids], env)).split(
        "\n",
      ),
    query: (statement) =>
      size === "small"
        ? askPostgres(storePort, written["SLUICE_POSTGRES_PASSWORD"] ?? "", statement)
        : askClickHouse(storePort, written["SLUICE_CLICKHOUSE_PASSWORD"] ?? "", statement),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function freePort(): Promise<number> {
  return choosePort("compose", "127.0.0.1", undefined);
}

async function askClickHouse(port: number, password: string, statement: string): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/?database=sluice`, {
    method: "POST",
    body: statement,
    headers: { "x-clickhouse-user": "migrator", "x-clickhouse-key": password },
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return text.split("\n").filter((row) => row !== "");
}

async function askPostgres(port: number, password: string, statement: string): Promise<string[]> {
  const rows = await queryPostgres(`postgres://sluice:${password}@127.0.0.1:${port}/sluice`, statement);
  return rows.map((row) => Object.values(row).join("\t"));
}
