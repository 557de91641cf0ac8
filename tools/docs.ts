// Writes docs/configuration.md from the `Config` of every app, and docs/events.md from the catalogue of events (`--write`),
// or fails when a file is not current.
// Fails, too, when a page names a file or a heading that is not there, or has a block of code in no language.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { eventsPage } from "../apps/webhook-dispatcher/src/events/page.ts";
import { problemsOf } from "../e2e/src/pages/blocks.ts";
import { describeFields, type FieldFacts } from "../packages/service/src/config-fields.ts";
import { BaseConfig } from "../packages/service/src/config.ts";
import { missingFrom } from "./page-links.ts";

const root = new URL("..", import.meta.url);

const sections = [section("Every service", BaseConfig)];
for (const path of globSync("apps/*/src/config.ts", { cwd: fileURLToPath(root) }).toSorted()) {
  const module: unknown = await import(new URL(path, root).href);
  if (typeof module !== "object" || module === null || !("Config" in module)) {
    throw new Error(`${path} does not export Config`);
  }
  sections.push(section(path.split("/")[1] ?? path, module.Config));
}
const text = `# Configuration

Written by \`npm run fix\` from the \`config.ts\` of each app: change it there.

Every setting is an environment variable, and an empty one counts as unset. A service that finds something wrong says
all of it at once, on standard error (which variable, what it takes, what it got; secrets are not shown), and ends with
exit status 78, which means that starting it again will not help.

${sections.join("\n")}`;

const pages = { "docs/configuration.md": text, "docs/events.md": eventsPage() };
for (const [path, wanted] of Object.entries(pages)) {
  const page = new URL(path, root);
  if (process.argv.includes("--write")) writeFileSync(page, wanted);
  else if (readIfThere(page) !== wanted) {
    console.error(`${path} is not what the code says: run \`npm run fix\``);
    process.exitCode = 1;
  }
}

for (const path of globSync(["*.md", "docs/**/*.md"], { cwd: fileURLToPath(root) })) {
  const page = new URL(path, root);
  const problems = [
    ...missingFrom(page, root).map((missing) => `${path} names ${missing}, which is not there`),
    ...problemsOf(readFileSync(page, "utf8")).map((problem) => `${path}:${problem}`),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

function section(title: string, Config: unknown): string {
  const rows = [...describeFields(Config)].map(([name, facts]) => row(title, name, facts));
  return `## ${title}

| Variable | Takes | Default | What for |
|---|---|---|---|
${rows.join("\n")}
`;
}

function row(title: string, name: string, facts: FieldFacts): string {
  if (facts.description === "" || facts.takes === "")
    throw new Error(`${title}: describe ${name} and what it takes`);
  const initial =
    facts.default === undefined ? (facts.required ? "required" : "none") : `\`${facts.default}\``;
  const cells = [`\`${name}\``, facts.takes, initial, facts.description];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
}

function readIfThere(page: URL): string | undefined {
  try {
    return readFileSync(page, "utf8");
  } catch {
    return undefined;
  }
}
