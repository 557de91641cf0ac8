import { readFile } from "node:fs/promises";

import { ServiceError } from "@sluice/service/service-error.ts";

const data = new URL("../../data/", import.meta.url);

/** Whether a network belongs to a hosting or cloud provider. */
export async function openDataCentres(): Promise<(asn: number) => boolean> {
  const numbers = (await linesOf(new URL("data-centre-networks.txt", data))).map((line) =>
    Number.parseInt(line, 10),
  );
  const known = new Set(numbers);
  return (asn) => known.has(asn);
}

/**
 * Whether a host, or one that it lies below, is advertised by visits that claim to come from it: the built-in ones and
 * those of a file with one a line, as Matomo publishes. Rejects with a ServiceError `config` when it cannot be read.
 */
export async function openSpamReferrers(path: string | undefined): Promise<(domain: string) => boolean> {
  const builtIn = await linesOf(new URL("spam-referrers.txt", data));
  const hosts = new Set([...builtIn, ...(path === undefined ? [] : await given(path))]);
  return (domain) => {
    for (let name = domain; name !== ""; name = parent(name)) if (hosts.has(name)) return true;
    return false;
  };
}

function parent(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? "" : name.slice(dot + 1);
}

async function given(path: string): Promise<string[]> {
  try {
    return await linesOf(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServiceError("config", `SPAM_REFERRERS_PATH: takes a file of hosts, one a line: ${reason}`, {
      cause: error,
    });
  }
}

/** In lower case, without comments (`#`) and blank lines. */
async function linesOf(file: string | URL): Promise<string[]> {
  const text = await readFile(file, "utf8");
  const lines = text.toLowerCase().split("\n");
  return lines.map((line) => line.replace(/#.*/, "").trim()).filter((line) => line !== "");
}
