import { AwsClient } from "aws4fetch";
import { EventLogError } from "../event-log.ts";
import { sha256 } from "./file-format.ts";
import type { S3Keys } from "./s3-keys.ts";
import type { ArchiveStorage } from "./storage.ts";

/** Enough for a few MB on a line of 1 Mbit/s. */
const requestMs = 60_000;
/** Of what a server says, so much is shown. */
const maxWords = 300;

export function createS3Storage(url: URL, keys: S3Keys): ArchiveStorage {
  const { bucket, prefix, endpoint, region } = parseS3Url(url);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN } = keys;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new EventLogError("misuse", "s3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are missing");
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(AWS_SESSION_TOKEN !== undefined && { sessionToken: AWS_SESSION_TOKEN }),
    service: "s3",
    region,
    // Who calls knows how long it may try.
    retries: 0,
  });
  const bucketUrl = `${endpoint}/${bucket}`;
  const urlOf = (path: string) => `${bucketUrl}/${prefix}${path}`;

  async function ask(doing: string, target: string, init: RequestInit): Promise<Response> {
    try {
      // What is signed for one host means nothing to another: where a bucket is elsewhere, a person gives its endpoint.
      const own = { redirect: "manual", signal: AbortSignal.timeout(requestMs) } as const;
      return await client.fetch(target, { ...init, ...own });
    } catch (cause) {
      throw new EventLogError("unavailable", `s3: ${doing}: no answer`, { cause });
    }
  }

  return {
    async put(path, bytes) {
      const doing = `putting ${path} into ${bucket}`;
      const response = await ask(doing, urlOf(path), {
        method: "PUT",
        body: Uint8Array.from(bytes),
        // So that the server refuses what has been changed on the way.
        headers: { "x-amz-content-sha256": sha256(bytes) },
      });
      if (!response.ok) throw toError(await readRefusal(response), doing);
      await response.body?.cancel();
    },
    async get(path, maxBytes) {
      const doing = `getting ${path} from ${bucket}`;
      const response = await ask(doing, urlOf(path), { method: "GET" });
      if (!response.ok) {
        const refusal = await readRefusal(response);
        if (refusal.code === "NoSuchKey") return undefined;
        throw toError(refusal, doing);
      }
      return await bodyOf(response, doing, maxBytes);
    },
    async list(given) {
      const doing = `listing ${given} in ${bucket}`;
      const paths: string[] = [];
      for (let token: string | undefined = ""; token !== undefined;) {
        const query = new URLSearchParams({ "list-type": "2", prefix: prefix + given });
        if (token !== "") query.set("continuation-token", token);
        const response = await ask(doing, `${bucketUrl}?${query.toString()}`, { method: "GET" });
        if (!response.ok) throw toError(await readRefusal(response), doing);
        const xml = (await bodyOf(response, doing, Infinity))?.toString() ?? "";
        // Names of ours need no escapes.
        for (const [, key = ""] of xml.matchAll(/<Key>([^<]*)<\/Key>/g)) paths.push(key.slice(prefix.length));
        token = textOf(xml, "NextContinuationToken");
      }
      return paths;
    },
  };
}

function parseS3Url(url: URL) {
  const example = "s3://bucket/prefix?endpoint=https://host&region=name";
  const refuse = (why: string) => new EventLogError("misuse", `s3: ${why}; it takes a URL like ${example}`);
  if (url.username !== "" || url.password !== "")
    throw refuse("keys are not taken from the URL but from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  if (!/^[a-z0-9][a-z0-9.-]{1,62}$/.test(url.host)) throw refuse(`"${url.host}" is no bucket`);
  if (!/^[\w./-]*$/.test(url.pathname))
    throw refuse(`prefix: takes letters, digits, "_", ".", "-" and "/", got "${url.pathname}"`);
  const given = new Map(url.searchParams);
  const region = given.get("region") ?? "us-east-1";
  const endpoint = given.get("endpoint") ?? `https://s3.${region}.amazonaws.com`;
  const unknown = [...given.keys()].find((name) => name !== "region" && name !== "endpoint");
  if (unknown !== undefined) throw refuse(`${unknown}: there is no such parameter`);
  if (!/^[\w-]+$/.test(region)) throw refuse(`region: takes a name, got "${region}"`);
  if (!/^https?:\/\/[^/?#@]+\/?$/.test(endpoint))
    throw refuse(`endpoint: takes https://host or http://host:port, got "${endpoint}"`);
  const prefix = url.pathname.replace(/^\/+|\/+$/g, "");
  return {
    bucket: url.host,
    prefix: prefix === "" ? "" : `${prefix}/`,
    endpoint: endpoint.replace(/\/$/, ""),
    region,
  };
}

interface Refusal {
  readonly status: number;
  /** S3's own word for it; empty where a proxy has answered. */
  readonly code: string;
  readonly message: string;
}

async function readRefusal(response: Response): Promise<Refusal> {
  const xml = await response.text().catch(() => "");
  return {
    status: response.status,
    code: textOf(xml, "Code") ?? "",
    // The rest of it names keys and signatures.
    message: (textOf(xml, "Message") ?? "").slice(0, maxWords),
  };
}

/** One that passes by itself, or one that a person must see to. */
function toError({ status, code, message }: Refusal, doing: string): EventLogError {
  const passes = status >= 500 || [408, 409, 425, 429].includes(status) || code === "RequestTimeout";
  return new EventLogError(
    passes ? "unavailable" : "misuse",
    `s3: ${doing}: ${`${status} ${code} ${message}`.trim()}`,
  );
}

async function bodyOf(response: Response, doing: string, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(response.headers.get("content-length") ?? 0) > maxBytes) {
    await response.body?.cancel();
    return undefined;
  }
  try {
    return Buffer.from(await response.arrayBuffer());
  } catch (cause) {
    throw new EventLogError("unavailable", `s3: ${doing}: the answer was cut off`, { cause });
  }
}

/** What stands in the first element of that name. */
function textOf(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
}
