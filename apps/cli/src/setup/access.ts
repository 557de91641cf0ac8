import { clickGrants } from "@sluice/click-store/access.ts";
import { giveLogin, linkGrants, type Login, type Service } from "@sluice/link-store/access.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Context } from "../context.ts";

/** Makes the logins whose addresses are set: what a service does, and nothing else. Safe to repeat. */
export async function giveAccess({ addresses, print }: Context): Promise<void> {
  const { services } = addresses;
  if (services.length === 0) throw new ServiceError("config", "set EDGE_DATABASE_URL, or another service's");
  for (const { variable, service, store, url } of services) {
    const login = loginIn(variable, url);
    if (store === "links") await giveLogin(await addresses.databaseUrl(), login, await linkGrants(service));
    else await giveLogin(await addresses.clickStoreUrl(), login, await clickGrants(service));
    print(`access: ${store}: ${login.user} is the ${service}'s`);
  }
}

/** Where a service finds a store in Postgres, with the name and the password that it is to log in with. */
export type ServiceAddress = { readonly variable: string; readonly url: string } & (
  | { readonly store: "links"; readonly service: Service }
  | { readonly store: "clicks"; readonly service: "ingester" | "dispatcher" }
);

function loginIn(variable: string, url: string): Login {
  const { username, password } = new URL(url);
  if (username === "" || password === "") {
    throw new ServiceError(
      "config",
      `${variable} takes a URL with a user and a password; got one without ${username === "" ? "a user" : "a password"}`,
    );
  }
  return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
}
