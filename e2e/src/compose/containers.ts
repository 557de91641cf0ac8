import { setTimeout as delay } from "node:timers/promises";

import type { Project } from "./project.ts";

/** A container that is killed while others are down has to wait for them. */
const patienceMs = 180_000;

/** Kills what runs in it from outside, so that Docker has to find out by itself, and waits until Docker has restarted it. */
export async function kill(project: Project, service: string): Promise<void> {
  const id = await project.container(service);
  const [pid, startedAt] = (await project.inspect(id, "{{.State.Pid}} {{.State.StartedAt}}")).split(" ");
  process.kill(Number(pid), "SIGKILL");
  await until(`${service} to be started again`, async () => {
    const [isRunning, since] = (await project.inspect(id, "{{.State.Running}} {{.State.StartedAt}}")).split(
      " ",
    );
    return isRunning === "true" && since !== startedAt;
  });
}

export async function healthy(project: Project, service: string): Promise<void> {
  const id = await project.container(service);
  await until(
    `${service} to be healthy`,
    async () => (await project.inspect(id, "{{.State.Health.Status}}")) === "healthy",
  );
}

/** What is wrong with how a container may be reached and what it may do. */
export async function exposure(project: Project, service: string): Promise<string[]> {
  const id = await project.container(service);
  const template =
    "{{.Config.User}}|{{.HostConfig.ReadonlyRootfs}}|{{.HostConfig.Memory}}|" +
    "{{range .HostConfig.PortBindings}}{{range .}}{{.HostIp}} {{end}}{{end}}|{{json .Config.Cmd}}{{json .Config.Entrypoint}}";
  const [user, readOnly, memory, addresses = "", command = ""] = (await project.inspect(id, template)).split(
    "|",
  );
  const isOurs = ["edge", "ingester", "dispatcher"].includes(service);
  return [
    ...(user === "" || user === "root" ? ["runs as root"] : []),
    ...(isOurs && readOnly !== "true" ? ["can write to its image"] : []),
    ...(memory === "0" ? ["has no limit of memory"] : []),
    ...(addresses.split(" ").some((address) => !["", "127.0.0.1"].includes(address))
      ? [`listens at ${addresses}`]
      : []),
    // Every secret of init's has 48 digits.
    ...(/[0-9a-f]{48}/.test(command) ? ["has a secret on its command line"] : []),
  ].map((problem) => `${service} ${problem}`);
}

/** Rejects when it is not so for minutes. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + patienceMs; !(await isSo()); await delay(200))
    if (performance.now() > deadline) throw new Error(`waited ${patienceMs / 1_000} s in vain for ${what}`);
}
