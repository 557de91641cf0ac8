// Paths given to the functions below stand in the SQL as they are: they hold neither quotes nor wildcards.

/** What a request asks the engine for, as far as the way of running it depends on it. */
export interface Statement {
  /**
   * - `insert`: its rows follow the statement itself, from byte `dataAt` on
   * - `select`: its result may be of any size
   * - `other`: it has a small result or none
   */
  readonly kind: "insert" | "select" | "other";
  readonly dataAt: number;
  /** The format that the text names for its result. */
  readonly format: string | undefined;
  /** The text to run: one that reads its rows from the file, or writes its result there. */
  readonly toRun: (path: string, defaultFormat: string) => string;
}

/** The most bytes of a statement without its rows: ClickHouse's own `max_query_size`. */
export const maxStatementBytes = 262_144;

/**
 * Reads one statement, far enough to know where it ends, which format it names and where an INSERT's rows begin. Rows
 * are bytes in any format and are not looked at: the engine itself, given statement and rows in one text, would take
 * what follows a blank line or a semicolon for the next statement.
 *
 * `bytes` is the text, or its first `maxStatementBytes`. Throws a StatementError.
 */
export function readStatement(bytes: Buffer): Statement {
  // Latin-1 keeps one character a byte, so that positions in the text are positions in the bytes.
  const text = bytes.toString("latin1", 0, maxStatementBytes);
  const outer: Token[] = [];
  const marks: Marks = {};
  let end = 0;
  let ended = false;
  for (const token of tokens(text)) {
    if (ended) throw syntaxError("Multi-statements are not allowed");
    if (token.depth === 0 && token.word === ";") {
      ended = true;
      continue;
    }
    end = token.end;
    if (token.word === "INPUT" && text[token.end] === "(") marks.input = token;
    if (token.depth > 0) continue;
    if (token.word === "SELECT") marks.select ??= token;
    if (token.word === "SETTINGS") marks.settings ??= token;
    outer.push(token);
    if (outer[0]?.word !== "INSERT") continue;
    const insert = readInsert(bytes, text, outer, marks);
    if (insert !== undefined) return insert;
  }
  refuseForeignTasks(outer);
  const at = outer.findLastIndex(
    ({ word }, i) => word === "FORMAT" && [undefined, "SETTINGS"].includes(outer[i + 2]?.word),
  );
  const [format, nameToken] = at < 0 ? [] : outer.slice(at, at + 2);
  const name = nameToken && text.slice(nameToken.start, nameToken.end);
  switch (outer[0]?.word) {
    case undefined:
      throw syntaxError("Empty query");
    case "SELECT":
    case "WITH":
    case "FROM":
    case "(":
      return {
        kind: "select",
        dataAt: end,
        format: name,
        toRun: (path, defaultFormat) =>
          format === undefined
            ? `${slice(bytes, 0, end)} INTO OUTFILE '${path}' FORMAT ${defaultFormat}`
            : `${slice(bytes, 0, format.start)}INTO OUTFILE '${path}' ${slice(bytes, format.start, end)}`,
      };
    default:
      return { kind: "other", dataAt: end, format: name, toRun: () => slice(bytes, 0, end) };
  }
}

/** A refusal before the engine sees the text: a ClickHouse error code, its name and a message. */
export class StatementError extends Error {
  override readonly name = "StatementError";
  readonly code: number;
  readonly type: string;

  constructor(code: number, type: string, message: string) {
    super(message);
    this.code = code;
    this.type = type;
  }
}

interface Token {
  /** In capitals for a word, as it stands for a sign, empty for a literal. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** How many parentheses are open around it. */
  readonly depth: number;
}

/** Words by which an INSERT is read. */
interface Marks {
  input?: Token;
  select?: Token;
  settings?: Token;
}

const space = /(?:\s+|--[^\n]*|#[ !][^\n]*)+/y;
const wordOrSign = /[A-Za-z_]\w*|[0-9][\w.]*|[\s\S]/y;
const heredocMark = /\$\w*\$/y;
const quoted = {
  "'": /'[^'\\]*(?:(?:\\[\s\S]|'')[^'\\]*)*'/y,
  '"': /"[^"\\]*(?:(?:\\[\s\S]|"")[^"\\]*)*"/y,
  "`": /`[^`\\]*(?:(?:\\[\s\S]|``)[^`\\]*)*`/y,
};

/** Takes time in proportion to the text's length: what is opened and never closed ends it. */
function* tokens(text: string): Generator<Token> {
  let at = 0;
  let depth = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const skipTo = (mark: string, what: string) => {
    const found = text.indexOf(mark, at);
    if (found < 0) throw syntaxError(`${what} is not closed`);
    at = found + mark.length;
  };
  for (;;) {
    match(space);
    const start = at;
    if (text.startsWith("/*", at)) {
      at += 2;
      skipTo("*/", "A comment");
      continue;
    }
    const first = text[at];
    const heredoc = match(heredocMark);
    if (heredoc !== undefined) skipTo(heredoc, "A heredoc");
    else if (first === "'" || first === '"' || first === "`") {
      if (match(quoted[first]) === undefined) throw syntaxError("A quote is not closed");
    } else {
      const word = match(wordOrSign);
      if (word === undefined) return;
      if (word === ")") depth = Math.max(0, depth - 1);
      yield { word: word.toUpperCase(), start, end: at, depth };
      if (word === "(") depth++;
      continue;
    }
    yield { word: "", start, end: at, depth };
  }
}

/** The INSERT whose rows begin after the last of these tokens, if they do. */
function readInsert(
  bytes: Buffer,
  text: string,
  outer: readonly Token[],
  { input, select, settings }: Marks,
): Statement | undefined {
  const last = outer.at(-1);
  const format = outer.at(-2);
  if (last === undefined) return undefined;
  if (format?.word !== "FORMAT") {
    if (last.word !== "VALUES" || select !== undefined) return undefined;
    const toRun = fromInfile(bytes, outer, settings, last, "FORMAT Values");
    return { kind: "insert", dataAt: last.end, format: undefined, toRun };
  }
  // A SELECT from tables has its format for nothing; one from input() has rows after it.
  if (select !== undefined && input === undefined) return undefined;
  const name = text.slice(last.start, last.end);
  // What separates the statement from its rows: blanks, then at most one end of line. The next byte may be a row's.
  const separator = /[ \t\f]*\r?\n?/y;
  separator.lastIndex = last.end;
  const dataAt = last.end + (separator.exec(text)?.[0].length ?? 0);
  const toRun =
    input === undefined
      ? fromInfile(bytes, outer, settings, format, `FORMAT ${name}`)
      : (path: string) =>
          `${slice(bytes, 0, input.start)}file('${path}', '${name}', ${slice(bytes, input.end + 1, format.start)}`;
  return { kind: "insert", dataAt, format: undefined, toRun };
}

/** `INTO t (…) SETTINGS … FORMAT f` → `INTO t (…) FROM INFILE '…' SETTINGS … FORMAT f` */
function fromInfile(
  bytes: Buffer,
  outer: readonly Token[],
  settings: Token | undefined,
  last: Token,
  format: string,
): (path: string) => string {
  refuseForeignTasks(outer);
  const at = (settings ?? last).start;
  return (path) =>
    `${slice(bytes, 0, at)}FROM INFILE '${path}' COMPRESSION 'none' ${slice(bytes, at, last.start)}${format}`;
}

/**
 * The engine plays client and server at once: it would open these files on the server's disk. And whoever started the
 * server ends it, with a signal.
 */
function refuseForeignTasks(outer: readonly Token[]): void {
  for (const [i, { word }] of outer.entries()) {
    const pair = `${word} ${outer[i + 1]?.word}`;
    if (pair === "INTO OUTFILE" || pair === "FROM INFILE") {
      throw new StatementError(48, "NOT_IMPLEMENTED", `${pair} is the client's business, not the server's`);
    }
    if (i === 0 && (pair === "SYSTEM SHUTDOWN" || pair === "SYSTEM KILL")) {
      throw new StatementError(48, "NOT_IMPLEMENTED", `${pair} is its supervisor's business, not a client's`);
    }
  }
}

function syntaxError(why: string): StatementError {
  return new StatementError(62, "SYNTAX_ERROR", `Syntax error: ${why}`);
}

function slice(bytes: Buffer, start: number, end: number): string {
  return bytes.toString("utf8", start, end);
}
