import { LocalServiceError } from "@sluice/local-services/error.ts";
import { expect, it } from "vitest";

import { provide, ServiceMissing } from "./provide.ts";

function fail(error: Error): () => Promise<never> {
  return async () => {
    throw error;
  };
}

it("a server whose program is missing is made up for by a container, and only when that fails too it is missing", async () => {
  const local = fail(new LocalServiceError("missing", "no java"));
  expect(await provide("Kafka", local, async () => "container")).toBe("container");
  const nothing = provide("Kafka", local, fail(new Error("no docker")));
  await expect(nothing).rejects.toThrow(ServiceMissing);
  await expect(nothing).rejects.toThrow("Kafka cannot be had: no java; no container either: no docker");
});

it("a server that is there and does not start is a failure, whatever else there is", async () => {
  const error = new LocalServiceError("start", "it ended");
  await expect(provide("Kafka", fail(error), async () => "container")).rejects.toBe(error);
});
