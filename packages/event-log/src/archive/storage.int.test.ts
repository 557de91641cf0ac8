import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testS3, type TestS3 } from "@sluice/testkit/s3.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { type TempDir, tempDir } from "@sluice/testkit/temp-dir.ts";
import { describe, expect, it } from "vitest";
import { type ArchiveStorage, openArchiveStorage } from "./storage.ts";

const bytes = Buffer.from([0, 255, 10, 13]);

/** What both kinds keep. */
function storageContract(open: () => Promise<ArchiveStorage>): void {
  it("gives back what was put, the last of it, and nothing that was not put", async () => {
    const storage = await open();
    expect(await storage.get("a/b/none", 10)).toBeUndefined();
    await storage.put("a/b/one", Buffer.from("before"));
    await storage.put("a/b/one", bytes);
    expect(await storage.get("a/b/one", 4)).toEqual(bytes);
  });

  it("reads nothing that is larger than what is asked for", async () => {
    const storage = await open();
    await storage.put("large", Buffer.alloc(11));
    expect(await storage.get("large", 10)).toBeUndefined();
  });

  it("lists what begins so, all of it", async () => {
    const storage = await open();
    expect(await storage.list("many/")).toEqual([]);
    // More than a server gives at once.
    const paths = Array.from({ length: 1_001 }, (_, index) => `many/day-${index % 3}/${index}.json`);
    for (let from = 0; from < paths.length; from += 50)
      await Promise.all(paths.slice(from, from + 50).map((path) => storage.put(path, bytes)));
    await storage.put("other/1.json", bytes);
    const listed = await storage.list("many/");
    expect(listed.filter((path) => path.endsWith(".json")).toSorted()).toEqual(paths.toSorted());
  });
}

describeWith("an archive on disk", tempDir, (dir: () => TempDir) => {
  storageContract(() => openArchiveStorage(`file://${dir().path}/not/there/yet`, {}));

  it("leaves nothing beside what was put", async () => {
    const storage = await openArchiveStorage(`file://${dir().path}/alone`, {});
    await storage.put("a", bytes);
    expect(await readdir(join(dir().path, "alone"))).toEqual(["a"]);
  });

  it("that cannot be written says so", async () => {
    const storage = await openArchiveStorage(`file://${dir().path}/file`, {});
    await storage.put("a", bytes);
    await expect(storage.put("a/b", bytes)).rejects.toThrow("file/a/b cannot be written");
  });
});

describeWith("an archive in S3", testS3, (s3: () => TestS3) => {
  const at = (url: string, bucket = s3().bucket) =>
    `s3://${bucket}/${s3().prefix}/x?endpoint=${url}&region=us-east-1`;
  storageContract(() => openArchiveStorage(at(s3().url), s3().keys));

  it("refuses wrong keys in words that hold no secret", async () => {
    const keys = { ...s3().keys, AWS_SECRET_ACCESS_KEY: "not-the-secret" };
    const storage = await openArchiveStorage(at(s3().url), keys);
    const refused = ": 403 SignatureDoesNotMatch";
    await expect(storage.put("a", bytes)).rejects.toThrow(refused);
    await expect(storage.put("a", bytes)).rejects.toMatchObject({ code: "misuse", retryable: false });
    await expect(storage.get("a", 10)).rejects.toThrow(refused);
    await expect(storage.list("a")).rejects.toThrow(refused);
    await expect(storage.put("a", bytes)).rejects.not.toThrow(s3().keys.AWS_ACCESS_KEY_ID);
  });

  it("names a bucket that is not there", async () => {
    const storage = await openArchiveStorage(at(s3().url, "nobodys-bucket"), s3().keys);
    const refused = "nobodys-bucket: 404 NoSuchBucket";
    await expect(storage.put("a", bytes)).rejects.toThrow(refused);
    await expect(storage.get("a", 10)).rejects.toThrow(refused);
  });

  it("that is cut off, or does not listen, may be tried again", async () => {
    await using proxy = await openTcpProxy(s3().url);
    const storage = await openArchiveStorage(at(proxy.url), s3().keys);
    proxy.afterBytes(100, () => proxy.cut());
    await expect(storage.put("cut", Buffer.alloc(100_000))).rejects.toMatchObject({ code: "unavailable" });
    proxy.refuse();
    await expect(storage.list("")).rejects.toMatchObject({ code: "unavailable", retryable: true });
    proxy.flow();
    await storage.put("cut", bytes);
    expect(await storage.get("cut", 10)).toEqual(bytes);
  });
});

describe("an archive's URL", () => {
  const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };
  it.each([
    [
      "ftp://host/x",
      'an archive goes by file:///path or s3://bucket/prefix?endpoint=…&region=…, not by "ftp:',
    ],
    ["file://host/x", "an archive on disk goes by file:///path"],
    ["s3://key:secret@bucket/x", "keys are not taken from the URL but from AWS_ACCESS_KEY_ID"],
    ["s3://bucket/x?regoin=a", "regoin: there is no such parameter"],
    ["s3://bucket/x?endpoint=host:9000", 'endpoint: takes https://host or http://host:port, got "host:9000"'],
    ["s3://bucket/a%20b", 'prefix: takes letters, digits, "_", ".", "-" and "/", got "/a%20b"'],
    ["s3://B_ucket/x", '"B_ucket" is no bucket'],
  ])("%s is refused, and what it takes is said", async (url, message) => {
    await expect(openArchiveStorage(url, keys)).rejects.toThrow(message);
  });

  it("s3 without keys says where they are taken from", async () => {
    await expect(openArchiveStorage("s3://bucket/x", {})).rejects.toThrow(
      "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are missing",
    );
  });
});
