export type StoreKind = "ClickHouse" | "Postgres";

/** Which adapter a URL is for. Throws for one that is for none, without quoting it: it may hold a password. */
export function storeKind(url: string): StoreKind {
  const protocol = URL.parse(url)?.protocol ?? "";
  if (/^https?:$/.test(protocol)) return "ClickHouse";
  if (/^postgres(?:ql)?:$/.test(protocol)) return "Postgres";
  throw new Error("the click store's URL is http://… or https://… (ClickHouse), or postgres://…");
}
