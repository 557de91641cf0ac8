// Writes docs/configuration.md from the `Config` of every app (`--write`), or fails when the file is not current.
// Fails, too, when a page names a file that is not there.
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describeFields, type FieldFacts } from "../packages/service/src/config-fields.ts";
import { BaseConfig } from "../packages/service/src/config.ts";

const root = new URL("..", import.meta.url);
const page = new URL("docs/configuration.md", root);

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

if (process.argv.includes("--write")) writeFileSync(page, text);
else if (readIfThere() !== text) {
  console.error("docs/configuration.md is not what the apps' config.ts say: run `npm run fix`");
  process.exitCode = 1;
}

for (const path of globSync(["*.md", "docs/**/*.md"], { cwd: fileURLToPath(root) })) {
  const named = readFileSync(new URL(path, root), "utf8");
  // Sources are named from the root, links from the page.
  const sources = [...named.matchAll(/`((?:apps|packages|e2e|bench|tools)\/[\w./-]+\.\w+)`/g)].map(
    ([, to = ""]) => new URL(to, root),
  );
  const links = [...named.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(
    ([, to = ""]) => new URL(to, new URL(path, root)),
  );
  for (const missing of [...sources, ...links].filter((url) => !existsSync(url))) {
    console.error(`${path} names ${fileURLToPath(missing)}, which is not there`);
    process.exitCode = 1;
  }
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

function readIfThere(): string | undefined {
  try {
    return readFileSync(page, "utf8");
  } catch {
    return undefined;
  }
}
