import { proofName, readTexts } from "@sluice/link-store/domain-proof.ts";
import type { CaseMode, Domain } from "@sluice/link-store/domain-store.ts";

import type { Context } from "../context.ts";
import { type Json, openLinks } from "../open-links.ts";

interface Settings extends Json {
  readonly caseMode?: CaseMode;
  /** False to take it away. */
  readonly homeUrl?: string | false;
  readonly notFoundUrl?: string | false;
}

const pageSize = 1_000;

export async function addDomain(
  context: Context,
  name: string,
  { workspace, ...settings }: Settings & { readonly workspace: string },
): Promise<void> {
  await using links = await openLinks(context);
  await links.ensureDomain(name, workspace);
  const domain = await links.updateDomain(name, changesOf(settings));
  context.print(settings.json ? JSON.stringify(domain) : lineOf(domain));
  noteNextStep(context, domain);
}

export async function listDomains(context: Context, { json }: Json): Promise<void> {
  await using links = await openLinks(context);
  for (let afterName = ""; ;) {
    const page = await links.listDomains({ afterName, limit: pageSize });
    for (const domain of page) context.print(json ? JSON.stringify(domain) : lineOf(domain));
    if (page.length < pageSize) return;
    afterName = page.at(-1)?.name ?? afterName;
  }
}

export async function setDomain(context: Context, name: string, settings: Settings): Promise<void> {
  await using links = await openLinks(context);
  const domain = await links.updateDomain(name, changesOf(settings));
  context.print(settings.json ? JSON.stringify(domain) : lineOf(domain));
}

export async function verifyDomain(
  context: Context,
  name: string,
  {
    trust,
    nameServer: nameServers = [],
    json,
  }: Json & { readonly trust?: boolean; readonly nameServer?: readonly string[] },
): Promise<void> {
  await using links = await openLinks(context);
  const domain = trust
    ? await links.markVerified(name)
    : await links.verifyDomain(name, (record) => readTexts(record, { nameServers }));
  context.print(json ? JSON.stringify(domain) : lineOf(domain));
}

/** What a person has to do before the domain serves. */
export function noteNextStep({ note }: Context, { name, verified, verificationToken }: Domain): void {
  if (verified) return;
  note(`${name} does not serve yet. Put this record into its DNS:`);
  note(`    ${proofName(name)}  TXT  ${verificationToken}`);
  note(`Then: sluice domain verify ${name}`);
}

function changesOf({ caseMode, homeUrl, notFoundUrl }: Settings) {
  return {
    ...(caseMode === undefined ? {} : { caseMode }),
    ...(homeUrl === undefined ? {} : { homeUrl: homeUrl === false ? null : homeUrl }),
    ...(notFoundUrl === undefined ? {} : { notFoundUrl: notFoundUrl === false ? null : notFoundUrl }),
  };
}

function lineOf({ name, verified, caseMode, homeUrl, notFoundUrl }: Domain): string {
  const parts = [
    name,
    verified ? "verified" : "not verified",
    ...(caseMode === "exact" ? [] : [`case ${caseMode}`]),
    ...(homeUrl === undefined ? [] : [`home ${homeUrl}`]),
    ...(notFoundUrl === undefined ? [] : [`not found ${notFoundUrl}`]),
  ];
  return parts.join("  ");
}
