/**
 * A statement of a migration as a cluster takes it: tables and views are made on all of its servers, and each table is
 * replicated. What is altered in a replicated table is altered in each replica by itself, settings excepted: those are
 * set on all servers. Everything else stays.
 *
 * Replicated tables keep the tokens of inserts in Keeper, where every replica looks, under settings of other names: so
 * an insert that is tried again at another replica, under its token, is stored once there, too.
 */
export function replicated(statement: string, cluster: string): string {
  return statement
    .replace(
      /^(CREATE (?:TABLE|VIEW) IF NOT EXISTS \w+|ALTER TABLE \w+(?= MODIFY SETTING))/m,
      `$1 ON CLUSTER \`${cluster}\``,
    )
    .replace(/^(\) ?|)ENGINE = (\w*MergeTree)/m, "$1ENGINE = Replicated$2")
    .replace(
      /\bnon_replicated_deduplication_window = (\d+)/,
      // A week: longer than an outage through which a batch is tried again. Newer servers forget after an hour.
      "replicated_deduplication_window = $1,\n  replicated_deduplication_window_seconds = 604800",
    );
}
