import { type ClickEvent, clickIdNames } from "./click-event.ts";
import { type ClickScanner, fieldAt } from "./scan.ts";

const at = {
  edgeRun: fieldAt("edge_run"),
  edgeSeq: fieldAt("edge_seq"),
  ts: fieldAt("ts"),
  workspaceId: fieldAt("workspace_id"),
  linkId: fieldAt("link_id"),
  visitor: fieldAt("visitor"),
  domain: fieldAt("domain"),
  method: fieldAt("method"),
  userAgent: fieldAt("user_agent"),
  referrerDomain: fieldAt("referrer_domain"),
  bot: fieldAt("bot"),
  prefetch: fieldAt("prefetch"),
  source: fieldAt("utm.source"),
  medium: fieldAt("utm.medium"),
  campaign: fieldAt("utm.campaign"),
  term: fieldAt("utm.term"),
  content: fieldAt("utm.content"),
};
const clickIds = clickIdNames.map((name) => ({ name, field: fieldAt(`click_ids.${name}`) }));

/**
 * Of the click that a scanner has just read, what is asked for beside its row: by whoever looks for repeats or
 * erasures, and by `enrich`. Each is decoded when it is asked for.
 */
export class ScannedClick {
  readonly scan: ClickScanner;
  #run = "";

  constructor(scan: ClickScanner) {
    this.scan = scan;
  }

  get edge_run(): string {
    // Clicks mostly come in rows of one run.
    if (!this.scan.says(at.edgeRun, this.#run)) this.#run = this.scan.text(at.edgeRun);
    return this.#run;
  }
  get edge_seq(): number {
    return this.scan.number(at.edgeSeq);
  }
  get ts(): number {
    return this.scan.number(at.ts);
  }
  get workspace_id(): number {
    return this.scan.number(at.workspaceId);
  }
  get link_id(): number {
    return this.scan.number(at.linkId);
  }
  get visitor(): string {
    return this.scan.text(at.visitor);
  }
  get domain(): string {
    return this.scan.text(at.domain);
  }
  get user_agent(): string {
    return this.scan.text(at.userAgent);
  }
  get referrer_domain(): string {
    return this.scan.text(at.referrerDomain);
  }
  get bot(): number {
    return this.scan.number(at.bot);
  }
  get prefetch(): boolean {
    return this.scan.number(at.prefetch) === 1;
  }
  get method(): ClickEvent["method"] {
    return this.scan.says(at.method, "GET") ? "GET" : "HEAD";
  }
  get utm(): ClickEvent["utm"] {
    const scan = this.scan;
    return {
      source: scan.text(at.source),
      medium: scan.text(at.medium),
      campaign: scan.text(at.campaign),
      term: scan.text(at.term),
      content: scan.text(at.content),
    };
  }
  get click_ids(): ClickEvent["click_ids"] {
    const ids: ClickEvent["click_ids"] = {};
    for (const { name, field } of clickIds) if (this.scan.has(field)) ids[name] = this.scan.text(field);
    return ids;
  }
}
