import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { encodeClick, encodeRefusedRange } from "@sluice/click-event/encode.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import type { ClickRow } from "@sluice/click-store/click-store.ts";
import { createCover } from "@sluice/click-store/cover.ts";
import { expect, it } from "vitest";
import type { Encoding } from "./encoding.ts";
import { prepare } from "./prepare.ts";

const line = { block: Buffer.alloc(0), start: 0, end: 0 };
const rowOf = ({ edge_run, edge_seq, ts, workspace_id }: Omit<ClickRow, "line">): ClickRow => ({
  edge_run,
  edge_seq,
  ts,
  workspace_id,
  line,
});
const cover = createCover([
  { workspaceId: 7, linkId: 70, upTo: Date.UTC(2030, 0) },
  { workspaceId: 8, visitor: "f".repeat(32), upTo: Date.UTC(2030, 0) },
]);

const record = (edge_seq: number, changes: Partial<ClickEvent> = {}) =>
  encodeClick(sampleClick({ edge_seq, ...changes }));

it("records come to the same whether or not their clicks are read where they are", async () => {
  const { edge, edge_run, ts } = sampleClick();
  const values = [
    record(1),
    // Read only by decoding: its line break is an escape.
    record(2, { city: "two\nlines" }),
    record(3, { workspace_id: 7, link_id: 70 }),
    record(4, { workspace_id: 7, link_id: 71 }),
    record(5, { workspace_id: 8, visitor: "f".repeat(32) }),
    record(6, { city: "São Paulo" }),
    record(0),
    encodeRefusedRange({ v: 1, kind: "refused", edge, edge_run, ts, from_seq: 8, to_seq: 9, reason: "full" }),
    Buffer.from("garbage"),
    record(1),
  ];
  const records = values.map((value, index) => ({ key: edge_run, value, id: `0-${index}`, appendedAt: ts }));
  const origin = { log: "memory", topic: "clicks" };
  const scanned: number[] = [];
  const encodeScanned: Encoding["encodeScanned"] = (click) => {
    scanned.push(click.edge_seq);
    return rowOf(click);
  };
  const decoded = await prepare(records, { origin, encoding: { encode: rowOf }, cover });
  expect(await prepare(records, { origin, encoding: { encode: rowOf, encodeScanned }, cover })).toEqual(
    decoded,
  );
  expect(scanned).toEqual([1, 4, 6, 1]);
  expect(decoded.clicks.map(({ edge_seq }) => edge_seq)).toEqual([1, 2, 4, 6, 1]);
  expect(decoded.erased.map(({ fromSeq }) => fromSeq)).toEqual([3, 5]);
  expect(decoded.letters.map(({ recordId }) => recordId)).toEqual(["0-6", "0-8"]);
});
