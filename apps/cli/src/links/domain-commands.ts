import { caseModes } from "@sluice/link-store/domain-store.ts";
import { type Command, Option } from "commander";

import type { Context } from "../context.ts";
import { repeated } from "../repeated.ts";
import { addDomain, listDomains, setDomain, verifyDomain } from "./domains.ts";

/** The options of `sluice domain …`. */
export function addDomainCommands(domain: Command, context: Context): void {
  domain
    .command("add <domain>")
    .description("make a domain of short links; it serves once it is verified")
    .option("--workspace <name>", "to whom it belongs, made where it is new", "default")
    .option("--home-url <url>", "where its / leads")
    .option("--not-found-url <url>", "where slugs lead that no link has")
    .addOption(caseMode())
    .option("--json", "print JSON")
    .action((name: string, options: Parameters<typeof addDomain>[2]) => addDomain(context, name, options));
  domain
    .command("list")
    .description("all domains, by name")
    .option("--json", "print JSON, a line each")
    .action((options: Parameters<typeof listDomains>[1]) => listDomains(context, options));
  domain
    .command("set <domain>")
    .description("change what is named; the rest stays")
    .option("--home-url <url>", "where its / leads")
    .option("--no-home-url", "its / says that short links are served here")
    .option("--not-found-url <url>", "where slugs lead that no link has")
    .option("--no-not-found-url", "slugs that no link has are not found")
    .addOption(caseMode())
    .option("--json", "print JSON")
    .action((name: string, options: Parameters<typeof setDomain>[2]) => setDomain(context, name, options));
  domain
    .command("verify <domain>")
    .description("look for the domain's token in its DNS; from then on it serves")
    .option("--trust", "without looking: you vouch for it")
    .option(
      "--name-server <address>",
      "ask this one, address or address:port; may be repeated",
      repeated(String),
    )
    .option("--json", "print JSON")
    .action((name: string, options: Parameters<typeof verifyDomain>[2]) =>
      verifyDomain(context, name, options),
    );
}

function caseMode(): Option {
  const about = "whether Test and test are two links; settled by the first link";
  return new Option("--case-mode <mode>", about).choices(caseModes);
}
