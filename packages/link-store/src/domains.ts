import { checkDomain, checkDomainChanges, checkLimit } from "./checks.ts";
import type { Domain, DomainStore } from "./domain-store.ts";
import { proofName } from "./domain-proof.ts";
import { isLocalDomain } from "./domain.ts";
import { invalid } from "./invalid.ts";
import { LinkStoreError } from "./link-store.ts";
import type { Query } from "./postgres.ts";
import * as domains from "./queries/domains.ts";
import { ensureWorkspace, findWorkspace } from "./queries/workspaces.ts";

export function domainStore(query: Query): DomainStore {
  return {
    workspaceId: (name) => findWorkspace(query, name),
    resolveDomain: (name) => domains.findDomain(query, name),
    async ensureDomain(text, workspaceName) {
      const name = checkDomain(text);
      if (workspaceName === "") throw invalid("workspaceName", "a name", workspaceName);
      const workspaceId = await ensureWorkspace(query, workspaceName);
      const domain = await domains.ensureDomain(query, { name, workspaceId, verified: isLocalDomain(name) });
      if (domain.workspaceId === workspaceId) return domain;
      throw new LinkStoreError("conflict", `${name} belongs to another workspace`);
    },
    async listDomains({ afterName = "", limit }) {
      checkLimit(limit);
      return domains.listDomains(query, afterName, limit);
    },
    async updateDomain(text, changes) {
      const name = checkDomain(text);
      const checked = checkDomainChanges(changes);
      const changed = await domains.updateDomain(query, name, checked);
      if (changed !== undefined) return changed;
      const own = await domains.findOwn(query, checked.hosts);
      if (own === undefined) throw noDomain(name);
      throw new LinkStoreError(
        "invalid",
        `homeUrl and notFoundUrl take a host that is no domain of short links; got "${own}"`,
      );
    },
    async verifyDomain(text, readTexts) {
      const name = checkDomain(text);
      const domain = found(name, await domains.findDomain(query, name));
      if (isLocalDomain(name)) return domain;
      const texts = await readTexts(proofName(name));
      if (!texts.includes(domain.verificationToken)) {
        throw invalid(proofName(name), `a TXT record ${domain.verificationToken}`, texts);
      }
      return found(name, await domains.markVerified(query, name));
    },
    async markVerified(text) {
      const name = checkDomain(text);
      return found(name, await domains.markVerified(query, name));
    },
  };
}

function found(name: string, domain: Domain | undefined): Domain {
  if (domain === undefined) throw noDomain(name);
  return domain;
}

function noDomain(name: string): LinkStoreError {
  return new LinkStoreError("not-found", `there is no domain ${name}`);
}
