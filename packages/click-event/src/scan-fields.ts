import { z } from "zod";
import { Rules } from "./exactly.ts";

export type Bytes = Uint8Array;

/** For each place of a text of plain characters, which bytes may stand there. */
export type Shape = readonly Uint8Array[];

export interface Field {
  readonly index: number;
  /** With its quotes and the colon. */
  readonly name: Bytes;
  readonly kind: "text" | "shape" | "number" | "boolean" | "object";
  readonly required: boolean;
  /** Of a number its value; of a text its characters. */
  readonly least: number;
  readonly most: number;
  /** The only numbers that it takes, if it does not take all between these. */
  readonly numbers: readonly number[] | undefined;
  readonly shapes: readonly Shape[];
  readonly group: Group;
  /** Which followed it the last time. */
  next: Field | undefined;
}

/** The fields of an object. */
export interface Group {
  readonly fields: readonly Field[];
  readonly required: number;
  /** Which was the first the last time. */
  next: Field | undefined;
}

const nothing: Group = { fields: [], required: 0, next: undefined };

/** The fields of a schema, and the number of each by its path. Throws for a rule that it does not know. */
export function compileFields(schema: z.ZodObject): { root: Group; paths: ReadonlyMap<string, number> } {
  const paths = new Map<string, number>();

  function group(rules: Rules, path: string): Group {
    const fields = Object.entries(rules.properties).map(([name, inner]): Field => {
      const inside = Rules.parse(inner);
      const here = path + name;
      const index = paths.size;
      paths.set(here, index);
      return {
        index,
        name: Buffer.from(`"${name}":`),
        required: rules.required.includes(name),
        least: 0,
        most: 0,
        numbers: undefined,
        shapes: [],
        group: nothing,
        next: undefined,
        ...ofType(inside, `${here}.`),
      };
    });
    return { fields, required: rules.required.length, next: undefined };
  }

  function ofType(rules: Rules, path: string): Pick<Field, "kind"> & Partial<Field> {
    const { type, pattern, minLength: least, maxLength: most } = rules;
    const values = rules.const === undefined ? rules.enum : [rules.const];
    if (type === "object") return { kind: "object", group: group(rules, path) };
    if (type === "boolean") return { kind: "boolean" };
    if (type === "string") {
      // A character has more than one byte, or one; of more than one character bytes do not tell.
      if (least > 1) throw new Error(`scan: ${path} is of at least ${least} characters`);
      if (values !== undefined)
        return { kind: "shape", least: 1, shapes: values.map((each) => literal(String(each))) };
      if (pattern === undefined) return { kind: "text", least, most };
      const { shape, mayBeEmpty } = shapeOf(pattern);
      return { kind: "shape", least: mayBeEmpty ? 0 : 1, shapes: [shape] };
    }
    if (values === undefined && type !== "integer") throw new Error(`scan: ${path} is no whole number`);
    const numbers = values?.map(Number);
    return {
      kind: "number",
      least: Math.max(rules.minimum, 0),
      most: Math.min(rules.maximum, Number.MAX_SAFE_INTEGER),
      numbers,
    };
  }

  const root = group(Rules.parse(z.toJSONSchema(schema, { io: "input" })), "");
  return { root, paths };
}

/** Of a pattern that has one class of characters after another, so many of each, and may be empty as a whole. */
function shapeOf(pattern: string): { shape: Shape; mayBeEmpty: boolean } {
  const [, whole, part] = /^\^(?:\(\?:(.*)\)\?|([^()]*))\$$/.exec(pattern) ?? [];
  const classes = whole ?? part ?? "";
  const shape: Uint8Array[] = [];
  const rest = classes.replaceAll(/(\[[\w-]+\]|[\w-])(?:\{(\d+)\})?/g, (_, each: string, times = "1") => {
    shape.push(...Array.from({ length: Number(times) }, () => bytesLike(new RegExp(`^${each}$`))));
    return "";
  });
  if (shape.length === 0 || rest !== "") throw new Error(`scan: does not know the pattern ${pattern}`);
  return { shape, mayBeEmpty: whole !== undefined };
}

function literal(text: string): Shape {
  return Array.from(text, (each) => bytesLike(new RegExp(`^${RegExp.escape(each)}$`)));
}

function bytesLike(character: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    byte < 0x80 && character.test(String.fromCharCode(byte)) ? 1 : 0,
  );
}
