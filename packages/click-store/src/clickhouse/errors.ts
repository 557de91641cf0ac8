import { explainTls } from "@sluice/service/tls-settings.ts";
import { ClickHouseError } from "@clickhouse/client";
import { adviceOn } from "./advice.ts";
import { ClickStoreError, type ErrorClass, type ErrorCode } from "../click-store.ts";

/** What one of ClickHouse's error codes means to whoever sent the statement. */
export interface Rule {
  readonly class: ErrorClass;
  /**
   * True when the answer says that the statement is over: a look-up made now sees all that it will ever have
   * stored, be it nothing or some of its partitions. False when it may still be running, or when another
   * part of the cluster has yet to decide; then only the same rows under the same token may be sent again.
   */
  readonly over: boolean;
  /** The statement was too big for the server: the same rows go in as two halves. */
  readonly smaller?: true;
  /** Trying again soon makes it worse. */
  readonly slow?: true;
  /** No code of ours: it is tried again a few times, then taken for a row's fault. */
  readonly unknown?: true;
}

const retry: Rule = { class: "retry", over: true };
const smaller: Rule = { class: "retry", over: true, smaller: true };
const undecided: Rule = { class: "retry", over: false };
const operator: Rule = { class: "operator", over: true };
/**
 * Thrown while the body is parsed or checked, before the one block that an insert consists of (`insertSettings`)
 * reaches the table: after it nothing is stored.
 */
const row: Rule = { class: "row", over: true };

/** Also for socket errors, time-outs and answers that carry no code: a proxy's 502 says nothing of the insert. */
const noCode: Rule = undecided;
const unknown: Rule = { class: "retry", over: true, unknown: true };

const rules: ReadonlyMap<ErrorCode, Rule> = new Map([
  // The server's own limits, its disk, its restarts; a cut-off body.
  [3, retry], // UNEXPECTED_END_OF_FILE
  [32, retry], // ATTEMPT_TO_READ_AFTER_EOF
  [33, retry], // CANNOT_READ_ALL_DATA
  [74, retry], // CANNOT_READ_FROM_FILE_DESCRIPTOR
  [75, retry], // CANNOT_WRITE_TO_FILE_DESCRIPTOR: what a full disk says in the middle of a part
  [76, retry], // CANNOT_OPEN_FILE: too many open files, among others
  [107, retry], // FILE_DOESNT_EXIST
  [159, smaller], // TIMEOUT_EXCEEDED: a batch that takes longer than the limit would never go in
  [160, retry], // TOO_SLOW
  [173, smaller], // CANNOT_ALLOCATE_MEMORY
  [198, retry], // DNS_ERROR
  [201, retry], // QUOTA_EXCEEDED
  [202, retry], // TOO_MANY_SIMULTANEOUS_QUERIES
  [203, retry], // NO_FREE_CONNECTION
  [204, retry], // CANNOT_FSYNC
  [236, retry], // ABORTED
  [241, smaller], // MEMORY_LIMIT_EXCEEDED
  [242, retry], // TABLE_IS_READ_ONLY
  [243, retry], // NOT_ENOUGH_SPACE
  [252, { ...retry, slow: true }], // TOO_MANY_PARTS; see `ruleOf` for its other meaning
  [254, retry], // NO_ACTIVE_REPLICAS
  [265, retry], // NO_AVAILABLE_REPLICA
  [279, retry], // ALL_CONNECTION_TRIES_FAILED
  [290, retry], // LIMIT_EXCEEDED
  [297, retry], // SHARD_HAS_NO_CONNECTIONS
  [364, retry], // RECEIVED_ERROR_TOO_MANY_REQUESTS
  [384, retry], // PART_IS_TEMPORARILY_LOCKED
  [394, retry], // QUERY_WAS_CANCELLED
  [425, retry], // SYSTEM_ERROR
  [473, retry], // DEADLOCK_AVOIDED
  [586, retry], // CANNOT_CREATE_FILE
  [733, retry], // TABLE_IS_BEING_RESTARTED
  [745, retry], // SERVER_OVERLOADED
  [1001, retry], // STD_EXCEPTION: a file system's refusal, for one
  // Somebody else has yet to decide, or our own earlier attempt is still at it.
  [209, undecided], // SOCKET_TIMEOUT
  [210, undecided], // NETWORK_ERROR
  [216, undecided], // QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING: every attempt's id is its token
  [244, undecided], // UNEXPECTED_ZOOKEEPER_ERROR
  [285, undecided], // TOO_FEW_LIVE_REPLICAS
  [286, undecided], // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  [289, undecided], // REPLICA_IS_NOT_IN_QUORUM
  [319, undecided], // UNKNOWN_STATUS_OF_INSERT
  [999, undecided], // KEEPER_EXCEPTION
  [1000, undecided], // POCO_EXCEPTION
  // A person must act. No row can cause these, so no click may be set aside for them.
  [16, operator], // NO_SUCH_COLUMN_IN_TABLE
  [20, operator], // NUMBER_OF_COLUMNS_DOESNT_MATCH
  [47, operator], // UNKNOWN_IDENTIFIER
  [60, operator], // UNKNOWN_TABLE
  [62, operator], // SYNTAX_ERROR
  [73, operator], // UNKNOWN_FORMAT
  [81, operator], // UNKNOWN_DATABASE
  [115, operator], // UNKNOWN_SETTING: an older server
  [164, operator], // READONLY
  [192, operator], // UNKNOWN_USER
  [193, operator], // WRONG_PASSWORD
  [194, operator], // REQUIRED_PASSWORD
  [195, operator], // IP_ADDRESS_NOT_ALLOWED
  [218, operator], // TABLE_IS_DROPPED
  [291, operator], // DATABASE_ACCESS_DENIED
  [344, operator], // SUPPORT_IS_DISABLED
  [392, operator], // QUERY_IS_PROHIBITED
  [452, operator], // SETTING_CONSTRAINT_VIOLATION
  [497, operator], // ACCESS_DENIED
  [516, operator], // AUTHENTICATION_FAILED
  [774, operator], // TABLE_IS_PERMANENTLY_READ_ONLY
  // A value that the table refuses.
  [6, row], // CANNOT_PARSE_TEXT
  [25, row], // CANNOT_PARSE_ESCAPE_SEQUENCE
  [26, row], // CANNOT_PARSE_QUOTED_STRING
  [27, row], // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  [38, row], // CANNOT_PARSE_DATE
  [41, row], // CANNOT_PARSE_DATETIME
  [53, row], // TYPE_MISMATCH
  [72, row], // CANNOT_PARSE_NUMBER
  [117, row], // INCORRECT_DATA
  [131, row], // TOO_LARGE_STRING_SIZE
  [321, row], // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
  [349, row], // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  [376, row], // CANNOT_PARSE_UUID
  [467, row], // CANNOT_PARSE_BOOL
  [469, row], // VIOLATED_CONSTRAINT
  [563, row], // CANNOT_READ_MAP_FROM_TEXT
  [691, row], // UNKNOWN_ELEMENT_OF_ENUM
]);

/** The rule for an error of this package; `message` tells the two meanings of code 252 apart. */
export function ruleOf({ code, message }: { code: ErrorCode; message: string }): Rule {
  if (code === 0) return noCode;
  // "Too many partitions for single INSERT block": waiting does not help it, fewer months in one insert do.
  if (code === 252 && /partitions for single INSERT/i.test(message)) return smaller;
  return rules.get(code) ?? unknown;
}

/** What the driver threw, as the error of this package: classified, and without the rows that ClickHouse quotes. */
export function toClickStoreError(error: unknown): ClickStoreError {
  if (error instanceof ClickStoreError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const [code, name] = codeAndName(error, text);
  const rule = ruleOf({ code, message: text });
  // A parser's message quotes the row it choked on, and so may one that we do not know.
  if (rule.class === "row" || rule.unknown) {
    return new ClickStoreError(rule.class, code, `${name} (code ${code})${place(text)}`);
  }
  const advice = explainTls(error, "CLICK_STORE_URL");
  const told = advice === undefined ? text.slice(0, 300).trim() : `${text.slice(0, 300).trim()}: ${advice}`;
  return new ClickStoreError(rule.class, code, `${name}: ${told}`, {
    cause: error,
    hints: hintsOf(code, rule),
  });
}

function hintsOf(code: ErrorCode, { slow }: Rule): ClickStoreError["hints"] {
  const advice = adviceOn(code);
  return { ...(advice !== undefined && { advice }), ...(slow && { slow }) };
}

function codeAndName(error: unknown, text: string): [code: number, name: string] {
  if (error instanceof ClickHouseError) return [Number(error.code), error.type ?? "UNNAMED"];
  // Servers older than the driver expects, and proxies that cut the text, leave the error's name out.
  const code = /^Code: (\d+)/.exec(text)?.[1];
  if (code !== undefined) return [Number(code), "UNNAMED"];
  return [0, "no answer"];
}

/** Which column of which row (from 1), where ClickHouse says so. */
function place(text: string): string {
  const column = /while reading the value of key (\w+)/.exec(text)?.[1];
  const line = /at row (\d+)/.exec(text)?.[1];
  return (column === undefined ? "" : `, column ${column}`) + (line === undefined ? "" : `, row ${line}`);
}
