import { explainPostgres } from "@sluice/service/explain-postgres.ts";
import { DatabaseError } from "pg";
import { ClickStoreError, type ErrorClass, type ErrorCode } from "../click-store.ts";

/** What one of Postgres's codes means to whoever sent the statement. */
export interface Rule {
  readonly class: ErrorClass;
  /** The statement was too big for the server: the same rows go in as two halves. */
  readonly smaller?: true;
  readonly unknown?: true;
}

const retry: Rule = { class: "retry" };
const smaller: Rule = { class: "retry", smaller: true };
const operator: Rule = { class: "operator" };
const row: Rule = { class: "row" };
const unknown: Rule = { class: "retry", unknown: true };

/**
 * By SQLSTATE, or by its class, the first two characters. Whatever the code, nothing of the transaction is stored; only
 * a connection that broke leaves that open, and then sending the same rows again is harmless, because of the key.
 */
const rules: ReadonlyMap<ErrorCode, Rule> = new Map([
  // The server's limits and restarts, the network, other transactions.
  ["08", retry], // connection exceptions
  ["25", retry], // transaction states; 25006 is a standby, which a failover makes into a primary
  ["40", retry], // serialization failures, deadlocks
  ["53", retry], // insufficient resources: 53100 disk full, 53300 too many connections
  ["53200", smaller], // out of memory
  ["55", retry], // objects in use, locks not available
  ["57", retry], // shutdowns; 57P03 cannot connect now
  ["57014", smaller], // query canceled: a batch that takes longer than the limit would never go in
  ["58", retry], // the system's errors: input and output
  // A person must act. No row can cause these, so no click may be set aside for them.
  ["0A", operator], // feature not supported: an older server
  ["22023", operator], // invalid parameter value, of a connection or a session
  ["28", operator], // invalid authorization: 28P01 wrong password, 28000 no such user
  ["3D", operator], // 3D000 no such database
  ["3F", operator], // 3F000 no such schema
  ["42", operator], // 42P01 no such table, 42703 no such column, 42501 insufficient privilege
  ["57P04", operator], // database dropped
  ["F0", operator], // configuration file errors
  ["XX001", operator], // data corrupted
  ["XX002", operator], // index corrupted
  // A value that the table refuses.
  ["22", row], // data exceptions: texts that are no number or time, numbers out of range, bytes that are no UTF-8
  ["23", row], // violated constraints; see `ruleOf` for the other meaning of 23514
  ["44", row], // a view's check option
  ["54000", row], // program limit exceeded: longer than an index can take
]);

/** No partition for the rows of an insert: one was dropped or detached since it was made. */
export const noPartition = "no partition";

/** The rule for an error of this package. */
export function ruleOf({ code, message }: { code: ErrorCode; message: string }): Rule {
  if (code === 0 || message === noPartition) return retry;
  return rules.get(code) ?? rules.get(String(code).slice(0, 2)) ?? unknown;
}

/** What the driver threw, as the error of this package: classified, and without the values that Postgres quotes. */
export function toClickStoreError(error: unknown): ClickStoreError {
  if (error instanceof ClickStoreError) return error;
  if (!(error instanceof DatabaseError)) {
    return new ClickStoreError("retry", 0, `no answer: ${advised(error, textOf(error))}`, { cause: error });
  }
  const { code = "" } = error;
  // A violated check has a name, this has none.
  const message = code === "23514" && error.constraint === undefined ? noPartition : error.message;
  const rule = ruleOf({ code, message });
  if (rule.class !== "row" && !rule.unknown) {
    // Without the error itself, whose context quotes the row that it came to.
    return new ClickStoreError(rule.class, code, advised(error, message.slice(0, 300)));
  }
  const what = rule.unknown ? "an error that is not known" : "a value is refused";
  return new ClickStoreError(rule.class, code, `${what}${place(error)}`);
}

function advised(error: unknown, message: string): string {
  const advice = explainPostgres(error, "CLICK_STORE_URL");
  return advice === undefined ? message : `${message}: ${advice}`;
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Where a name has several addresses, none of which answers, there is a code and no text.
  return error.message === "" && "code" in error ? String(error.code) : error.message;
}

/** Which constraint, or which column of which row (from 1), where Postgres says so. */
function place({ constraint, where = "" }: DatabaseError): string {
  if (constraint !== undefined) return `, constraint ${constraint}`;
  const found = /^COPY \w+, line (\d+)(?:, column (\w+))?/m.exec(where);
  if (found === null) return "";
  const [, line, column] = found;
  return (column === undefined ? "" : `, column ${column}`) + `, row ${line}`;
}
