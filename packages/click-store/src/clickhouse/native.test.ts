import { expect, it } from "vitest";
import { type Column, encodeNative } from "./native.ts";
import { createRowWriter } from "./native-row.ts";

const columns: readonly Column[] = [
  { name: "t", kind: "text" },
  { name: "n", kind: "uint64" },
  { name: "m", kind: "map" },
  { name: "b", kind: "uint8" },
];

it("rows become a block: columns one after another, each with its name and its type", () => {
  const write = createRowWriter(columns);
  const lines = [write(["ab", 0x1_0000_0002, { x: "y" }, true]), write(["", 3, {}, false])];
  const block = Buffer.concat([...encodeNative(columns, lines)]).toString("hex");
  const expected = [
    "04 02",
    `01${hex("t")} 06${hex("String")} 02${hex("ab")} 00`,
    `01${hex("n")} 06${hex("UInt64")} 0200000001000000 0300000000000000`,
    `01${hex("m")} 13${hex("Map(String, String)")} 0100000000000000 0100000000000000 01${hex("x")} 01${hex("y")}`,
    `01${hex("b")} 05${hex("UInt8")} 01 00`,
  ];
  expect(block).toBe(expected.join("").replaceAll(" ", ""));
});

it.each([0, 1, 126, 127, 128, 129, 5_461, 5_462, 16_383, 16_384, 20_000, 70_000])(
  "a text of %i characters keeps them, whatever their bytes",
  (length) => {
    const only: readonly Column[] = [{ name: "t", kind: "text" }];
    const write = createRowWriter(only);
    for (const character of ["x", "é", "字"]) {
      const text = character.repeat(length);
      const block = Buffer.concat([...encodeNative(only, [write([text]), write(["end"])])]);
      expect(block.subarray(-4)).toEqual(Buffer.from("\u0003end"));
      const bytes = Buffer.byteLength(text);
      expect(block.subarray(-4 - bytes, -4).toString() === text).toBe(true);
      expect(readVarint(block, 2 + 2 + 7)).toBe(bytes);
    }
  },
);

it("a number that its column cannot hold is a bug, and said", () => {
  const write = createRowWriter([{ name: "b", kind: "uint8" }]);
  expect(() => write([256])).toThrow(RangeError);
});

function hex(text: string): string {
  return Buffer.from(text).toString("hex");
}

function readVarint(block: Buffer, at: number): number {
  const byte = block[at] ?? 0;
  return byte < 0x80 ? byte : (byte & 0x7f) + 128 * readVarint(block, at + 1);
}
