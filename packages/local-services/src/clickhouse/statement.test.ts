import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { maxStatementBytes, readStatement, StatementError } from "./statement.ts";

const read = (text: string) => readStatement(Buffer.from(text));
const toRun = (text: string) => read(text).toRun("spool/1", "TabSeparated");
/** What of the text is taken for rows. */
const rows = (text: string) => Buffer.from(text).toString("utf8", read(text).dataAt);

describe("an INSERT with rows", () => {
  it("gives up its rows exactly, whatever their first bytes are", () => {
    expect(rows("INSERT INTO t FORMAT RowBinary\n\n\n;x")).toBe("\n\n;x");
    expect(rows("INSERT INTO t FORMAT RowBinary\r\n x")).toBe(" x");
    expect(rows("INSERT INTO t FORMAT CSV 1,2")).toBe("1,2");
    expect(rows("insert into t (a, b) values (1, 'x')")).toBe(" (1, 'x')");
    expect(rows("INSERT INTO t FORMAT Values (1)")).toBe("(1)");
    expect(rows("INSERT INTO t FORMAT JSONEachRow")).toBe("");
  });

  it("reads them from the file, with its settings and columns as they were", () => {
    expect(toRun("INSERT INTO t FORMAT RowBinary\nxyz")).toBe(
      "INSERT INTO t FROM INFILE 'spool/1' COMPRESSION 'none' FORMAT RowBinary",
    );
    expect(toRun("INSERT INTO d.`values` (a, format) SETTINGS x = 1, y = 'FORMAT' VALUES (1)")).toBe(
      "INSERT INTO d.`values` (a, format) FROM INFILE 'spool/1' COMPRESSION 'none' SETTINGS x = 1, y = 'FORMAT' FORMAT Values",
    );
  });

  it("is not misled by comments, strings and names that look like its end", () => {
    expect(toRun('/* FORMAT a */ INSERT INTO "FORMAT x" -- VALUES\n FORMAT CSV\n1')).toBe(
      "/* FORMAT a */ INSERT INTO \"FORMAT x\" -- VALUES\n FROM INFILE 'spool/1' COMPRESSION 'none' FORMAT CSV",
    );
  });

  it("may select from its rows with input()", () => {
    expect(toRun("INSERT INTO t SELECT a + 1 FROM input('a UInt8') WHERE a > 1 FORMAT JSONEachRow {}")).toBe(
      "INSERT INTO t SELECT a + 1 FROM file('spool/1', 'JSONEachRow', 'a UInt8') WHERE a > 1 ",
    );
  });

  it("is none when it selects from tables", () => {
    expect(read("INSERT INTO t SELECT * FROM u")).toMatchObject({ kind: "other" });
    expect(read("INSERT INTO t SELECT * FROM u FORMAT Null")).toMatchObject({ kind: "other" });
  });
});

describe("a SELECT", () => {
  it("writes its result into the file, in the format it names or the default one", () => {
    expect(toRun("SELECT 1;")).toBe("SELECT 1 INTO OUTFILE 'spool/1' FORMAT TabSeparated");
    expect(toRun("SELECT 1 -- FORMAT CSV")).toBe("SELECT 1 INTO OUTFILE 'spool/1' FORMAT TabSeparated");
    expect(toRun("with x as (select 'é') select * from x FORMAT JSON SETTINGS max_threads = 1")).toBe(
      "with x as (select 'é') select * from x INTO OUTFILE 'spool/1' FORMAT JSON SETTINGS max_threads = 1",
    );
    expect(read("(SELECT format FROM t)").format).toBeUndefined();
    expect(read("SELECT format FROM t WHERE format = 1").format).toBeUndefined();
  });

  it("keeps a semicolon in a string, a comment or a heredoc", () => {
    for (const text of ["SELECT ';'", "SELECT 'it''s; \\'; x'", "SELECT 1 /* ; */", "SELECT $a$ ; ' $a$"]) {
      expect(read(text).kind).toBe("select");
    }
  });
});

describe("what a server does not run", () => {
  it.each([
    ["SELECT 1; SELECT 2", 62],
    ["CREATE TABLE t (a UInt8) ENGINE = Memory; DROP TABLE t", 62],
    ["", 62],
    [" -- nothing\n", 62],
    ["SELECT 1 INTO OUTFILE '/etc/passwd'", 48],
    ["SYSTEM /* all */ shutdown", 48],
    ["INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV", 48],
  ])("%s", (text, code) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ name: "StatementError", code }));
  });
});

it("any bytes are a statement or a refusal, and rows never begin beyond the text", () => {
  const words = fc.constantFrom(
    "INSERT",
    "INTO",
    "t",
    "FORMAT",
    "VALUES",
    "SELECT",
    "input(",
    "'",
    "`",
    "$",
    "\\",
    "(",
    ")",
    ";",
    "--",
    "/*",
    "\n",
    "SETTINGS",
    "\0é",
  );
  const text = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.array(words).map((all) => Buffer.from(all.join(" "))),
  );
  const property = fc.property(text, (bytes) => {
    try {
      const statement = readStatement(bytes);
      statement.toRun("spool/1", "CSV");
      return statement.dataAt <= bytes.length;
    } catch (error) {
      return error instanceof StatementError;
    }
  });
  expect(fc.check(property, { numRuns: 2_000 })).toMatchObject({ failed: false, counterexample: null });
});

it("reads a statement of the greatest length in time proportional to it", () => {
  const texts = [
    "(".repeat(maxStatementBytes),
    "'".repeat(maxStatementBytes),
    "$a".repeat(maxStatementBytes / 2),
    "x ".repeat(maxStatementBytes / 2),
    "/*".repeat(maxStatementBytes / 2),
    "\\'".repeat(maxStatementBytes / 2),
  ];
  for (const text of texts) {
    const before = process.cpuUsage();
    try {
      read(`INSERT ${text}`);
    } catch {
      // Refused is as good.
    }
    // It takes some 50 ms; what takes the square of the length takes minutes.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(5);
  }
});
