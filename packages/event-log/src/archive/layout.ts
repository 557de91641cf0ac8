/**
 * The names in an archive. A file and its line in the manifest have the same one, so that what a time asks for is
 * chosen by names alone:
 *
 *     <topic>/files/2026-12-01/20261201T120321.123Z-20261201T120821.007Z-<run>-000001.zst
 *     <topic>/manifest/2026-12-01/20261201T120321.123Z-20261201T120821.007Z-<run>-000001.json
 *
 * The two times are those of the earliest and the latest record. A run is one life of one archiver, which numbers its
 * files from 1 without gaps: a hole is an entry that is missing.
 */
export interface FileName {
  /** Ms since 1970, both of records that are in the file. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly run: string;
  readonly seq: number;
}

export function filePath(topic: string, name: FileName): string {
  return `${topic}/files/${dayOf(name)}/${written(name)}.zst`;
}

export function manifestPrefix(topic: string): string {
  return `${topic}/manifest/`;
}

export function entryPath(topic: string, name: FileName): string {
  return `${manifestPrefix(topic)}${dayOf(name)}/${written(name)}.json`;
}

/** Undefined for what is no entry, such as what an interrupted write has left. */
export function parseEntryPath(path: string): FileName | undefined {
  const [, from = "", to = "", run = "", seq = ""] =
    /\/(\d{8}T\d{6}\.\d{3}Z)-(\d{8}T\d{6}\.\d{3}Z)-([0-9a-f-]{36})-(\d{6,15})\.json$/.exec(path) ?? [];
  const fromMs = parseStamp(from);
  const toMs = parseStamp(to);
  return Number.isNaN(fromMs) || Number.isNaN(toMs) ? undefined : { fromMs, toMs, run, seq: Number(seq) };
}

/** The last ms of the year 9999: what a name, and a record on disk, can say. */
const latestMs = Date.UTC(10_000, 0) - 1;

/** When a record was appended, whatever a writer's clock has said. */
export function nameableMs(ms: number): number {
  return Math.min(Math.max(0, Math.trunc(ms)), latestMs);
}

function written({ fromMs, toMs, run, seq }: FileName): string {
  return `${stamp(fromMs)}-${stamp(toMs)}-${run}-${seq.toString().padStart(6, "0")}`;
}

function dayOf({ fromMs }: FileName): string {
  return new Date(fromMs).toISOString().slice(0, 10);
}

function stamp(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[-:]/g, "");
}

function parseStamp(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)/, "$1-$2-$3:$4:"));
}
