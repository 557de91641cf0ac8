import { DatabaseError } from "pg";
import { describe, expect, it } from "vitest";
import { noPartition, ruleOf, toClickStoreError } from "./errors.ts";

const classes = {
  retry: [
    "08000 08001 08003 08004 08006 08P01 25006 25P02 25P03 40001 40P01 40003 53000 53100 53200 53300 53400 55P03 55006",
    "57014 57P01 57P02 57P03 57P05 58000 58030 58P01",
  ],
  operator: [
    "0A000 22023 28000 28P01 3D000 3F000 42501 42601 42703 42704 42883 42P01 42P07 57P04 F0000 XX001 XX002",
  ],
  row: ["22001 22003 22007 22008 22021 22P02 22P05 23502 23503 23505 23514 44000 54000"],
} as const;

function databaseError(fields: Partial<DatabaseError>): DatabaseError {
  return Object.assign(new DatabaseError(fields.message ?? "", 0, "error"), fields);
}

describe("the error table", () => {
  for (const name of ["retry", "operator", "row"] as const) {
    it.each(classes[name].join(" ").split(" "))(`takes code %s for the class ${name}`, (code) => {
      expect(ruleOf({ code, message: "" })).toMatchObject({ class: name });
      expect(ruleOf({ code, message: "" }).unknown).toBeUndefined();
    });
  }

  it.each(["XX000", "P0001", "99999", ""])("does not blame a row for the code '%s', at first", (code) => {
    expect(ruleOf({ code, message: "" })).toMatchObject({ class: "retry", unknown: true });
  });

  it.each(["57014", "53200"])("asks for smaller batches after code %s", (code) => {
    expect(ruleOf({ code, message: "" })).toMatchObject({ smaller: true });
  });
});

describe("an error of the driver", () => {
  it("keeps code and text where they help", () => {
    const error = databaseError({ code: "42P01", message: 'relation "click_events" does not exist' });
    expect(toClickStoreError(error)).toMatchObject({
      class: "operator",
      code: "42P01",
      retryable: false,
      message: 'relation "click_events" does not exist',
    });
  });

  it.each(["22P02", "23514", "XX000"])("never quotes the row that code %s is about", (code) => {
    const secret = "+49 170 1234567";
    const error = toClickStoreError(
      databaseError({
        code,
        message: `invalid input syntax: "${secret}"`,
        detail: secret,
        where: `COPY incoming_clicks, line 17, column slug: "${secret}"`,
        ...(code === "23514" && { constraint: "no_numbers" }),
      }),
    );
    expect(error.message).not.toContain(secret);
    expect(error.message).toMatch(code === "23514" ? /, constraint no_numbers$/ : /, column slug, row 17$/);
    expect(error.cause).toBeUndefined();
  });

  it("keeps no context that quotes a row, also where waiting helps", () => {
    const error = databaseError({
      code: "57014",
      message: "canceling statement",
      where: "COPY x, line 1: +49 170",
    });
    expect(toClickStoreError(error).cause).toBeUndefined();
  });

  it("takes a missing partition for no row's fault", () => {
    const message = 'no partition of relation "click_events" found for row';
    expect(toClickStoreError(databaseError({ code: "23514", message }))).toMatchObject({
      class: "retry",
      message: noPartition,
    });
  });

  it("has no code when the connection broke", () => {
    const refused = Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" });
    expect(toClickStoreError(refused)).toMatchObject({
      class: "retry",
      code: 0,
      message: "no answer: ECONNREFUSED",
    });
    expect(toClickStoreError(new Error("Connection terminated"))).toMatchObject({ class: "retry", code: 0 });
  });
});
