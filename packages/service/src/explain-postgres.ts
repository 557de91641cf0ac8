import { explainTls } from "./tls-settings.ts";

const names = { ca: "sslrootcert", cert: "sslcert", key: "sslkey" };

/**
 * What an operator is told of a Postgres that could not be used, where there is something to mend; undefined otherwise.
 * `setting` is the variable with the URL. The error is the driver's.
 */
export function explainPostgres(error: unknown, setting: string): string | undefined {
  const advice = explainTls(error, setting, names);
  if (advice !== undefined || !(error instanceof Error)) return advice;
  const code = "code" in error ? error.code : undefined;
  if (code === "28P01" || code === "28000") return `mend user and password in ${setting}`;
  if (/unsupported startup parameter/.test(error.message))
    return "a pooler stands in between: add the parameter to its ignore_startup_parameters (docs/connections.md)";
  if (/does not support SSL/.test(error.message))
    return `turn TLS on at the server, or take sslmode out of ${setting}`;
  if (code === "ENOENT" || code === "EACCES")
    return `sslrootcert, sslcert and sslkey in ${setting} take paths of readable files`;
  return undefined;
}
