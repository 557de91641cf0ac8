import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodeClick } from "./encode.ts";
import { peekWorkspace } from "./peek.ts";
import { clickEvents } from "./testing/arbitrary.ts";
import { sampleClick } from "./testing/sample.ts";

const peek = (text: string) => peekWorkspace(Buffer.from(text));

test("the workspace of any click is told without decoding it", () => {
  fc.assert(
    fc.property(clickEvents, (event) => {
      expect(peekWorkspace(encodeClick(event))).toBe(event.workspace_id);
    }),
  );
});

test("a visitor's text that looks like the field is not taken for it", () => {
  for (const user_agent of ['"workspace_id":7,', '\\"workspace_id":7,', '{"workspace_id":7}']) {
    const { workspace_id, ...rest } = sampleClick({ user_agent, slug: user_agent });
    expect(peekWorkspace(Buffer.from(JSON.stringify({ ...rest, workspace_id })))).toBe(workspace_id);
  }
});

test("where it cannot be told, nothing is said", () => {
  for (const text of [
    "",
    "{}",
    '{"workspace_id": 7}',
    '{"workspace_id":"7"}',
    '{"workspace_id":7',
    '{"workspace_id":-7}',
  ])
    expect(peek(text)).toBeUndefined();
  expect(peek(`{"workspace_id":${"9".repeat(30)}}`)).toBeUndefined();
  expect(peek('{"workspace_id":7}')).toBe(7);
});
