import { giveLogin, linkGrants, type Service } from "../access.ts";

// For tests: services log in as whoever may do no more than they need. The names are the same in every test, and the
// password too, because roles belong to all databases of a server.

const loginOf = (service: Service) => ({ user: `sluice_test_${service}`, password: "a p@ssword" });

/** Makes the role that `asRole` names. `otherGrants` are those of another package in the same database. */
export async function makeRole(ownerUrl: string, service: Service, otherGrants = ""): Promise<void> {
  await giveLogin(ownerUrl, loginOf(service), (await linkGrants(service)) + otherGrants);
}

/** The same address, as that service. What is not of Postgres stays as it is. */
export function asRole(url: string, service: Service): string {
  if (!url.startsWith("postgres")) return url;
  const { user, password } = loginOf(service);
  return Object.assign(new URL(url), { username: user, password: encodeURIComponent(password) }).href;
}
