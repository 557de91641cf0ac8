import { Session } from "chdb";

/** One statement and the settings it runs under, which end with it. */
export interface Request {
  readonly text: string;
  readonly database: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
  /** For results that the text gives no format. */
  readonly format: string;
  /** Called when the statement is about to run; it does not, when this rejects. */
  readonly lastly?: () => Promise<void>;
}

export interface Result {
  readonly bytes: Uint8Array;
  /** Rows read from tables, or from the file of an INSERT: then the number of rows sent. */
  readonly rowCount: number;
  readonly rowBytes: number;
  readonly elapsedSeconds: number;
}

export interface Engine extends Disposable {
  /** Rejects with the engine's own error, whose message begins with `Code: `. Several may run at once. */
  run(request: Request): Promise<Result>;
}

/**
 * Opens the data directory, which only one process may do at a time. Throws when it cannot be opened.
 *
 * Each statement gets a connection of its own (half a millisecond), which is what lets statements run side by side: on
 * one connection an INSERT waits for the SELECT before it. It also ends the statement's settings with the statement.
 */
export function openEngine(dataDir: string): Engine {
  // The engine lives as long as it has a connection: this one keeps it between statements. Copies of databases go where a
  // server puts them by default, in a folder beside the data.
  const keeper = new Session(dataDir, { connectionArgs: ["--backups.allowed_path=backups"] });
  return {
    async run({ text, database, settings, format, lastly }) {
      using session = new Session(dataDir);
      if (database !== undefined) await session.queryAsync(`USE ${quoteName(database)}`);
      if (settings.size > 0) {
        const assignments = [...settings].map(([name, value]) => `${name} = ${quoteText(value)}`);
        await session.queryAsync(`SET ${assignments.join(", ")}`);
      }
      await lastly?.();
      const result = await session.queryAsync(text, { format });
      return {
        bytes: result.bytes(),
        rowCount: result.rowsRead,
        rowBytes: result.bytesRead,
        elapsedSeconds: result.elapsed,
      };
    },
    [Symbol.dispose]: () => keeper.close(),
  };
}

function quoteName(name: string): string {
  return `\`${name.replace(/[\\`]/g, "\\$&")}\``;
}

function quoteText(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
