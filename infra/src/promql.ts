// As much of PromQL as tells which series a query reads.

export interface Selector {
  readonly name: string;
  readonly matchers: readonly (readonly [label: string, value: string])[];
}

const words = new Set(["and", "or", "unless", "offset", "bool"]);
const grouping = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const naming = /(?<![\w.])([a-zA-Z_:][\w:]*)?\s*\{([^}]*)\}|(?<![\w.])([a-zA-Z_:][\w:]*)\s*(\(?)/g;

/** What a query reads. A selector by a pattern of names is one for each of them. */
export function selectorsOf(query: string): Selector[] {
  const plain = query.replaceAll(grouping, " ").replaceAll(/\[[^\]]*\]/g, " ");
  return [...plain.matchAll(naming)].flatMap(([, braced, braces = "", bare = "", bracket]) => {
    if (bracket === "(" || words.has(bare)) return [];
    const matchers = [...braces.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)].flatMap(
      ([, label = "", values = ""]) => values.split("|").map((value) => [label, value] as const),
    );
    const names = matchers.filter(([label]) => label === "__name__").map(([, name]) => name);
    const others = matchers.filter(([label]) => label !== "__name__");
    return (names.length > 0 ? names : [braced ?? bare]).map((name) => ({ name, matchers: others }));
  });
}

/** The labels by which a query groups or joins. */
export function groupingLabels(query: string): string[] {
  return [...query.matchAll(grouping)].flatMap(([, list = ""]) => list.match(/\w+/g) ?? []);
}
