import { nextEpoch } from "../epoch.ts";
import { EventLogError, type EventLog, type LogRecord, type OpenOptions, type Reader } from "../event-log.ts";
import { Pull, type Taken } from "../pull.ts";

/** A key and a value together may have so many bytes: about what a broker takes by default. */
const maxRecordBytes = 1024 * 1024;

interface Member {
  pull: Pull;
  /** Replaced whenever the member gains or loses the topic. */
  ownership: { epoch: number; lost: AbortController } | undefined;
  /** Index of the next record to hand out. */
  next: number;
}

interface Group {
  /** Index of the first record that is not committed. */
  position: number;
  /** The one opened last owns the topic; when it leaves, the one before it does. */
  members: Member[];
}

interface Topic {
  records: LogRecord[];
  groups: Map<string, Group>;
}

/** What outlives a memory log that is closed: the stand-in for the disk, for tests that open a log again. */
export interface MemoryStore {
  topics: Map<string, Topic>;
}

export function createMemoryStore(): MemoryStore {
  return { topics: new Map() };
}

/**
 * The log for unit tests: nothing is written anywhere, a topic is one sequence, and the member of a group that
 * was opened last owns it. It keeps every record for as long as its store lives.
 */
export function openMemoryEventLog(store: MemoryStore = createMemoryStore()): EventLog {
  const readers = new Set<Reader>();
  let closed = false;

  function assertOpen(): void {
    if (closed) throw new EventLogError("closed", "the event log is closed");
  }

  return {
    async append(name, records) {
      assertOpen();
      const indexes = records.flatMap((record, index) =>
        Buffer.byteLength(record.key) + record.value.byteLength > maxRecordBytes ? [index] : [],
      );
      if (indexes.length > 0) {
        throw new EventLogError("too-large", `a record has over ${maxRecordBytes} bytes`, { indexes });
      }
      const topic = topicOf(store, name);
      const appendedAt = Date.now();
      for (const { key, value } of records) {
        // A copy: a log that writes its records away is not changed by what its caller does to a buffer later.
        topic.records.push({ key, value: Uint8Array.from(value), id: `${topic.records.length}`, appendedAt });
      }
      for (const group of topic.groups.values()) owner(group)?.pull.changed();
    },
    async open(name, options) {
      assertOpen();
      const topic = topicOf(store, name);
      const reader = openReader(topic, options, () => {
        readers.delete(reader);
        if (options.fleeting === true) topic.groups.delete(options.group);
      });
      readers.add(reader);
      return reader;
    },
    async ping() {
      assertOpen();
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      for (const reader of readers) await reader[Symbol.asyncDispose]();
    },
  };
}

function topicOf(store: MemoryStore, name: string): Topic {
  const known = store.topics.get(name);
  if (known !== undefined) return known;
  const made: Topic = { records: [], groups: new Map() };
  store.topics.set(name, made);
  return made;
}

function owner(group: Group): Member | undefined {
  return group.members.at(-1);
}

function groupOf(topic: Topic, { group: name, since = 0 }: OpenOptions): Group {
  const known = topic.groups.get(name);
  if (known !== undefined) return known;
  const from = topic.records.findIndex(({ appendedAt }) => appendedAt >= since);
  const made: Group = { position: from === -1 ? topic.records.length : from, members: [] };
  topic.groups.set(name, made);
  return made;
}

/** To be called after every change of members: whoever owns the topic starts again at the group's position. */
function assign(group: Group): void {
  for (const member of group.members) {
    member.ownership?.lost.abort();
    member.ownership = undefined;
  }
  const member = owner(group);
  if (member === undefined) return;
  member.ownership = { epoch: nextEpoch(), lost: new AbortController() };
  member.next = group.position;
  member.pull.changed();
}

function openReader(topic: Topic, options: OpenOptions, onClose: () => void): Reader {
  const group = groupOf(topic, options);
  const end = options.until === "now" ? topic.records.length : Infinity;
  const available = (): number => {
    if (member.ownership === undefined) return 0;
    return Math.max(0, Math.min(end, topic.records.length) - member.next);
  };
  const member: Member = {
    pull: new Pull(
      {
        records: available,
        bytes: () => sum(topic.records.slice(member.next, member.next + available())),
        complete: () => member.next >= end - available(),
        take: (maxRecords, maxBytes) => take(topic, group, member, { end, maxRecords, maxBytes }),
      },
      options.signal,
    ),
    ownership: undefined,
    next: group.position,
  };
  group.members.push(member);
  assign(group);
  return {
    next: (want) => member.pull.next(want),
    async [Symbol.asyncDispose]() {
      member.pull.close();
      if (!group.members.includes(member)) return;
      member.ownership?.lost.abort();
      group.members = group.members.filter((other) => other !== member);
      assign(group);
      onClose();
    },
  };
}

function sum(records: readonly LogRecord[]): number {
  return records.reduce((bytes, record) => bytes + record.value.byteLength, 0);
}

function take(
  topic: Topic,
  group: Group,
  member: Member,
  limits: { end: number; maxRecords: number; maxBytes: number },
): Taken {
  const ownership = member.ownership;
  if (ownership === undefined) throw new Error("records were taken by a member that owns none");
  const records: LogRecord[] = [];
  let bytes = 0;
  for (const record of topic.records.slice(
    member.next,
    Math.min(limits.end, member.next + limits.maxRecords),
  )) {
    bytes += record.value.byteLength;
    if (records.length > 0 && bytes > limits.maxBytes) break;
    records.push(record);
  }
  const position = member.next + records.length;
  member.next = position;
  return {
    records,
    epoch: ownership.epoch,
    signal: ownership.lost.signal,
    commit: async () => {
      group.position = position;
    },
  };
}
