import { ClickHouseError } from "@clickhouse/client";
import { describe, expect, it } from "vitest";
import { adviceOn } from "./advice.ts";
import { ruleOf, toClickStoreError } from "./errors.ts";
import { codesByClass } from "./testing/error-codes.ts";

describe("the error table", () => {
  for (const name of ["retry", "operator", "row"] as const) {
    it.each(codesByClass[name])(`takes code %i for the class ${name}`, (code) => {
      expect(ruleOf({ code, message: "" })).toMatchObject({ class: name });
      expect(ruleOf({ code, message: "" }).unknown).toBeUndefined();
    });
  }

  it.each(codesByClass.operator)("has advice on code %i, which nobody but a person can end", (code) => {
    expect(adviceOn(code)).toMatch(/: \w+/);
  });

  it("does not blame a row for a code it does not know, at first", () => {
    expect(ruleOf({ code: 4711, message: "" })).toMatchObject({ class: "retry", unknown: true });
  });

  it("asks for smaller batches only where waiting alone does not help", () => {
    const tooMany = "Too many parts (3000). Merges are processing significantly slower than inserts";
    expect(ruleOf({ code: 252, message: tooMany })).toMatchObject({ slow: true });
    expect(ruleOf({ code: 252, message: tooMany }).smaller).toBeUndefined();
    const partitions = "Too many partitions for single INSERT block (more than 100)";
    expect(ruleOf({ code: 252, message: partitions })).toMatchObject({ smaller: true, over: true });
    expect(ruleOf({ code: 241, message: "" })).toMatchObject({ smaller: true, over: true });
  });

  it.each([0, 209, 210, 216, 244, 285, 286, 289, 319, 999, 1000])(
    "leaves the outcome open after code %i: the same rows under the same token, or nothing",
    (code) => expect(ruleOf({ code, message: "" })).toMatchObject({ class: "retry", over: false }),
  );
});

describe("an error of the driver", () => {
  it("keeps code and text where they help", () => {
    const error = new ClickHouseError({
      code: "60",
      type: "UNKNOWN_TABLE",
      message: "Table d.t does not exist.",
    });
    expect(toClickStoreError(error)).toMatchObject({
      class: "operator",
      code: 60,
      retryable: false,
      message: "UNKNOWN_TABLE: Table d.t does not exist.",
    });
  });

  it.each(["27", "4711"])("never quotes the row that code %s is about", (code) => {
    const message =
      "Cannot parse input: expected ',' before: '+49 170 1234567': (while reading the value of key slug): (at row 17)";
    const error = toClickStoreError(new ClickHouseError({ code, type: "SOME_ERROR", message }));
    expect(error.message).toBe(`SOME_ERROR (code ${code}), column slug, row 17`);
    expect(error.cause).toBeUndefined();
  });

  it("has no code when the connection broke, or when a proxy answered", () => {
    for (const message of ["read ECONNRESET", "Timeout error.", "<html>502 Bad Gateway</html>"]) {
      expect(toClickStoreError(new Error(message))).toMatchObject({
        class: "retry",
        code: 0,
        retryable: true,
      });
    }
  });

  it("has a code also when the error's name is missing", () => {
    const error = toClickStoreError(new Error("Code: 241. DB::Exception: Memory limit exceeded"));
    expect(error).toMatchObject({ class: "retry", code: 241 });
  });
});
