import { describe, expect, test } from "vitest";
import { z } from "zod";

import {
  boolean,
  byteSize,
  describeFields,
  durationMs,
  host,
  list,
  port,
  secret,
  url,
} from "./config-fields.ts";
import { readConfig } from "./config.ts";

const accepts = (field: z.ZodType, value: string) => field.safeParse(value).data;

describe("readConfig", () => {
  const Config = z.object({ A_PORT: port().default(8080), OPS_PORT: port().default(9101) });

  test("an empty variable counts as unset, and base fields come with the service's own", () => {
    expect(readConfig("x", Config, { A_PORT: "", LOG_LEVEL: "", DRAIN_TIMEOUT_MS: "7" })).toEqual({
      A_PORT: 8080,
      OPS_PORT: 9101,
      OPS_HOST: "127.0.0.1",
      LOG_LEVEL: "info",
      DRAIN_TIMEOUT_MS: 7,
    });
  });

  test("a base field that the service declares again is the service's, its problem told once", () => {
    expect(() => readConfig("x", Config, { OPS_PORT: "-1" })).toThrow(
      'x: a problem in the configuration\n  OPS_PORT takes a port, 0 to 65535, got "-1"',
    );
  });

  test("a check across fields keeps its own words", () => {
    const Ordered = z
      .object({ LOW: port().default(5), HIGH: port().default(6) })
      .refine(({ LOW, HIGH }) => LOW < HIGH, { path: ["LOW"], message: "must be below HIGH" });
    expect(() => readConfig("x", Ordered, { LOW: "7" })).toThrow('LOW: must be below HIGH, got "7"');
  });

  test("a secret is not shown, whatever is wrong with it", () => {
    const Secret = z.object({ KEY: secret({ min: 32 }).default("0".repeat(32)) });
    expect(() => readConfig("x", Secret, { KEY: "hunter2" })).toThrow(
      "KEY takes a secret of 32 or more characters, got *** (7 characters)",
    );
  });
});

describe("fields", () => {
  test("port: whole, within 0 to 65535", () => {
    expect(["0", "65535"].map((value) => accepts(port(), value))).toEqual([0, 65_535]);
    for (const value of ["65536", "-1", "80.5", "0x50", "8e1", " 80", "eighty"]) {
      expect(accepts(port(), value)).toBeUndefined();
    }
  });

  test("duration: milliseconds within its bounds, and within what a timer can take", () => {
    expect(accepts(durationMs({ min: 10 }), "10")).toBe(10);
    expect(accepts(durationMs({ min: 10 }), "9")).toBeUndefined();
    expect(accepts(durationMs(), "2147483648")).toBeUndefined();
    expect(accepts(durationMs(), "10s")).toBeUndefined();
  });

  test("byte size: a number, or with a binary unit", () => {
    const given = ["0", "1000", "512MiB", "2 GiB", "1TiB", "12B"];
    expect(given.map((value) => accepts(byteSize(), value))).toEqual([
      0,
      1000,
      512 * 1024 ** 2,
      2 * 1024 ** 3,
      1024 ** 4,
      12,
    ]);
    for (const value of ["512MB", "1.5GiB", "-1", "MiB", "9007199254740991KiB"]) {
      expect(accepts(byteSize(), value)).toBeUndefined();
    }
    expect(accepts(byteSize({ min: 1024 }), "1023")).toBeUndefined();
  });

  test("boolean: true, false, 1 and 0", () => {
    expect(["true", "FALSE", "1", "0"].map((value) => accepts(boolean(), value))).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(accepts(boolean(), "yes")).toBeUndefined();
  });

  test("list: parts without blanks around them, none of them empty", () => {
    expect(accepts(list(), "a, b ,c")).toEqual(["a", "b", "c"]);
    expect(accepts(list(), "a,,b")).toBeUndefined();
  });

  test("host: a name or an address", () => {
    expect(["::1", "0.0.0.0", "db-1.local"].map((value) => accepts(host(), value) === value)).not.toContain(
      false,
    );
    expect(accepts(host(), "http://x")).toBeUndefined();
  });

  test("url: of an allowed protocol, with one host or several", () => {
    const field = url(["kafka", "memory", "journal", "postgres"]);
    const good = [
      "memory:",
      "journal:///var/lib/sluice",
      "kafka://a:9092,b:9092/?x=1",
      "postgres://me:p,w@db:5432/x",
      "postgres://me:pw@a:1,b:2/x",
    ];
    expect(good.map((value) => accepts(field, value))).toEqual(good);
    for (const value of ["redis://x", "kafka", "kafka://a:port", "kafka://a:1,b:2 c", "http://kafka:"]) {
      expect(accepts(field, value)).toBeUndefined();
    }
  });

  test("what a field takes and its default can be read off, through defaults and options", () => {
    const Config = z.object({
      SIZE: byteSize({ min: 1024 })
        .default(512 * 1024 ** 2)
        .describe("How much."),
      KEY: secret().optional().describe("The key."),
      MODE: z.enum(["a", "b"]).describe("Which."),
      TAGS: list().default(["x", "y"]),
    });
    expect([...describeFields(Config)]).toEqual([
      [
        "SIZE",
        {
          takes: "bytes or a size like 512MiB, 1KiB or more",
          description: "How much.",
          default: "512MiB",
          required: false,
          secret: false,
        },
      ],
      [
        "KEY",
        {
          takes: "a secret of 1 or more characters",
          description: "The key.",
          default: undefined,
          required: false,
          secret: true,
        },
      ],
      [
        "MODE",
        { takes: "one of a, b", description: "Which.", default: undefined, required: true, secret: false },
      ],
      [
        "TAGS",
        {
          takes: "a list separated by commas",
          description: "",
          default: "x,y",
          required: false,
          secret: false,
        },
      ],
    ]);
  });
});
