import type { Command } from "commander";

import type { Context } from "../context.ts";
import { repeated } from "../repeated.ts";
import { parseMoment, parseVariant } from "./link-parts.ts";
import { createLink, editLink, listLinks, showLink, switchLink } from "./links.ts";
import { parseRule } from "./rule-text.ts";

/** The options of `sluice link …`; docs/links.md shows each at work. */
export function addLinkCommands(link: Command, context: Context): void {
  addParts(link.command("create <url>").description("make a short link to a URL"))
    .option("--slug <slug>", "its path; drawn at random without one")
    .option("--domain <domain>", "its domain, made where it is new", "localhost")
    .option("--json", "print JSON")
    .action((url: string, options: Parameters<typeof createLink>[2]) => createLink(context, url, options));
  addRemovals(addParts(link.command("edit <slug>").description("change what is named; the rest stays")))
    .option("--destination <url>", "where it leads")
    .option("--domain <domain>", "its domain", "localhost")
    .option("--json", "print JSON")
    .action((slug: string, options: Parameters<typeof editLink>[2]) => editLink(context, slug, options));
  link
    .command("show <slug>")
    .description("all parts of a link")
    .option("--domain <domain>", "its domain", "localhost")
    .option("--json", "print JSON")
    .action((slug: string, options: Parameters<typeof showLink>[2]) => showLink(context, slug, options));
  link
    .command("list")
    .description("all links, oldest first")
    .option("--domain <domain>", "only the links of this domain")
    .option("--json", "print JSON, a line each")
    .action((options: Parameters<typeof listLinks>[1]) => listLinks(context, options));
  for (const [to, about] of [
    ["disable", "from now on the link does not redirect; its clicks stay"],
    ["enable", "from now on the link redirects again"],
  ] as const) {
    link
      .command(`${to} <slug>`)
      .description(about)
      .option("--domain <domain>", "its domain", "localhost")
      .option("--json", "print JSON")
      .action((slug: string, options: Parameters<typeof switchLink>[3]) =>
        switchLink(context, to, slug, options),
      );
  }
}

/** What a link may have besides its destination. */
function addParts(command: Command): Command {
  return command
    .option("--status <code>", "301, 302, 307 or 308; 302 without it", numeral)
    .option("--starts <time>", "not there before, such as 2026-12-24T18:00+01:00", parseMoment)
    .option("--expires <time>", "over from then on", parseMoment)
    .option("--max-clicks <count>", "over after so many clicks of people", numeral)
    .option("--password", "visitors are asked for it; read from standard input")
    .option(
      "--rule <rule>",
      "'country=DE,AT device=mobile -> https://…'; repeated: the first that fits",
      repeated(parseRule),
    )
    .option(
      "--variant <variant>",
      "'50 https://…': a weight and a destination; at least two",
      repeated(parseVariant),
    )
    .option("--ios <url>", "opened on iPhone and iPad")
    .option("--android <url>", "opened on Android")
    .option("--pass-query", "the visitor's query goes on to the destination")
    .option("--utm-source <text>", "added where the destination has none")
    .option("--utm-medium <text>", "the same")
    .option("--utm-campaign <text>", "the same")
    .option("--utm-term <text>", "the same")
    .option("--utm-content <text>", "the same")
    .option("--noindex", "search engines are asked not to list the short link")
    .option("--track-conversions", "the click's id goes on to the destination");
}

function addRemovals(command: Command): Command {
  const parts = ["starts", "expires", "max-clicks", "password", "rule", "variant", "ios", "android"];
  for (const part of [...parts, "pass-query", "utm", "noindex", "track-conversions"]) {
    command.option(`--no-${part}`, "take it away");
  }
  return command;
}

/** Left as it is when it is none, for the link store to name. */
function numeral(text: string): number | string {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}
