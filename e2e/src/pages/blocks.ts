/** A block of code of a page, and what comments above its fence say of it. */
export interface Block {
  /** Of the fence, from 1. */
  readonly line: number;
  /** As the fence has it; empty for none, and for a block that is only indented. */
  readonly language: string;
  readonly text: string;
  /** `<!-- not run: reason -->` */
  readonly notRun: string | undefined;
  /** `<!-- or says: … -->`: its commands may fail if that is what they print. */
  readonly orSays: string | undefined;
  /** `<!-- until Ctrl-C -->`: its commands end when they are told to. */
  readonly untilInterrupted: boolean;
}

/** Those that are run; all others are for reading. */
const runnable = ["sh", "sql"];

/** The blocks of a page in Markdown, in their order. */
export function blocksOf(page: string): Block[] {
  const lines = page.split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const comments = new Map<string, string>();
    while (lines[at]?.startsWith("<!-- ")) {
      const [, name = "", value = ""] = /^<!-- ([^:]+?)(?:: (.*))? -->$/.exec(lines[at++] ?? "") ?? [];
      comments.set(name, value);
      if (lines[at] === "") at++;
    }
    const from = at;
    const language = /^```(\w*)$/.exec(lines[at] ?? "")?.[1];
    if (language !== undefined) while (++at < lines.length && lines[at] !== "```");
    else if (!isIndented(lines, at)) continue;
    else while (lines[at + 1]?.startsWith("    ")) at++;
    blocks.push({
      line: from + 1,
      language: language ?? "",
      text: lines.slice(language === undefined ? from : from + 1, at).join("\n"),
      notRun: comments.get("not run"),
      orSays: comments.get("or says"),
      untilInterrupted: comments.has("until Ctrl-C"),
    });
  }
  return blocks;
}

function isIndented(lines: readonly string[], at: number): boolean {
  return lines[at]?.startsWith("    ") === true && lines[at - 1] === "";
}

/** Whether a test runs it. */
export function isRun({ language, notRun }: Block): boolean {
  return runnable.includes(language) && notRun === undefined;
}

/** What keeps a block from being run without saying why, a line each with where it is. */
export function problemsOf(page: string): string[] {
  return blocksOf(page).flatMap(({ line, language, text, notRun }) => {
    if (language === "") return [`${line}: fence it, and say what language it is in`];
    if (notRun !== undefined && notRun.length < 10) return [`${line}: say why it is not run`];
    if (!runnable.includes(language) && /^(\$ |\.\/|(sluice|npm|npx|docker|kubectl|curl) )/m.test(text))
      return [`${line}: has commands, so it is \`sh\``];
    return [];
  });
}

/** The commands of a script, one a line; a line that ends with a backslash goes on. */
export function commandsOf(script: string): string[] {
  return script
    .replaceAll("\\\n", "")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"));
}

/** The statements of a block of SQL, which a semicolon at a line's end parts. */
export function statementsOf(text: string): string[] {
  return text.split(/;[ \t]*(?:--.*)?(?:\n|$)/).filter((statement) => statement.trim() !== "");
}
