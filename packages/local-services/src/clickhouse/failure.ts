/** What a failed request is answered with. */
export interface Failure {
  /** ClickHouse's error code. */
  readonly code: number;
  readonly status: number;
  /** `Code: 60. DB::Exception: … (UNKNOWN_TABLE)`, as its clients parse it. */
  readonly text: string;
}

/** Reads an engine's message; one that is not in ClickHouse's form becomes a LOGICAL_ERROR (49). */
export function failureFromEngine(message: string): Failure {
  // What the engine's client half passes on from its server half is headed twice.
  const text = message
    .trim()
    .replace(/^Code: \d+\. DB::Exception: (?=Code: \d+\. )/, "")
    // The files through which rows and results go are nobody's business.
    .replace(/: \(in file\/uri [^)]*\)/, "")
    .replace(/\s*INTO OUTFILE '[^']*'/, "");
  const code = /^Code: (\d+)\. /.exec(text)?.[1];
  return code === undefined
    ? failure(49, "LOGICAL_ERROR", text)
    : { code: Number(code), status: httpStatus(Number(code)), text };
}

export function failure(code: number, type: string, message: string): Failure {
  return { code, status: httpStatus(code), text: `Code: ${code}. DB::Exception: ${message}. (${type})` };
}

/** The HTTP status that a ClickHouse server gives an error code. */
function httpStatus(code: number): number {
  return statuses.get(code) ?? 500;
}

const statuses = new Map<number, number>([
  // REQUIRED_PASSWORD
  [194, 401],
  // UNKNOWN_USER, WRONG_PASSWORD, AUTHENTICATION_FAILED, SET_NON_GRANTED_ROLE
  ...each([192, 193, 516, 512], 403),
  // what cannot be parsed or does not fit: texts, escapes, quotes, assertions, dates, numbers, UUIDs; types, syntax
  ...each([6, 25, 26, 27, 36, 38, 41, 43, 44, 53, 62, 69, 72, 117, 167, 168, 376, 427], 400),
  // UNKNOWN_ function, identifier, type, storage, table, aggregate function, format, database, setting
  ...each([46, 47, 50, 56, 60, 63, 73, 81, 115], 404),
  // TIMEOUT_EXCEEDED
  [159, 408],
  // HTTP_LENGTH_REQUIRED
  [381, 411],
  // NOT_IMPLEMENTED
  [48, 501],
  // SOCKET_TIMEOUT, CANNOT_SCHEDULE_TASK
  ...each([209, 439], 503),
]);

function each(codes: readonly number[], status: number): [number, number][] {
  return codes.map((code) => [code, status]);
}
