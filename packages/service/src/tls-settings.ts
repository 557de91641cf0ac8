import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

import { ServiceError } from "./service-error.ts";

/** Paths of PEM files. */
export interface TlsFiles {
  /** The authorities whose servers are trusted, instead of those that Node knows. */
  readonly ca?: string | undefined;
  /** What we show to a server that asks for it; goes with `key`. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** As Node's `tls` takes them. */
export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Under which names the files are set, where these are not `ca`, `cert` and `key`. */
export type TlsNames = Readonly<Record<keyof TlsFiles, string>>;
const usualNames: TlsNames = { ca: "ca", cert: "cert", key: "key" };

/**
 * Reads the files. Throws a ServiceError `config` that names the parameter, its path and what is wrong with it; never
 * what is in the file.
 */
export function readTls({ ca, cert, key }: TlsFiles): TlsOptions {
  if ((cert === undefined) !== (key === undefined)) {
    throw new ServiceError("config", "cert and key go together: paths of a certificate and of its key");
  }
  const options = {
    ...(ca !== undefined && { ca: readPem("ca", ca) }),
    ...(cert !== undefined && { cert: readPem("cert", cert) }),
    ...(key !== undefined && { key: readFile("key", key) }),
  };
  try {
    createSecureContext(options);
  } catch (cause) {
    throw new ServiceError("config", `key takes the key of the certificate in cert, got "${key}"`, { cause });
  }
  return options;
}

/**
 * What an operator is told of a TLS connection that could not be made, in words that name the setting; undefined where
 * TLS is not to blame. `setting` is what holds the parameters, as `EVENT_LOG_URL`.
 */
export function explainTls(
  error: unknown,
  setting: string,
  { ca, cert, key }: TlsNames = usualNames,
): string | undefined {
  const code = codeOf(error);
  if (code === undefined) return undefined;
  if (unknownAuthority.has(code))
    return `the server's certificate is of an authority that is not trusted: give the path of the authority's certificate as ${ca} in ${setting}`;
  switch (code) {
    case "CERT_HAS_EXPIRED":
      return `the server's certificate, or its authority's, has expired: renew it on the server, and where it is the authority's also ${ca} in ${setting}`;
    case "CERT_NOT_YET_VALID":
      return "the server's certificate is not valid yet: look at both clocks";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `the server's certificate is for another name: in ${setting} use the name that is in it`;
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return `the server does not speak TLS there: mend the port, or turn TLS off, in ${setting}`;
    // Which of these it is depends on the server: some say the same of no certificate and of one that they do not trust.
    case "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED":
    case "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE":
    case "ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE":
    case "ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_UNKNOWN":
    case "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE":
    case "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE":
    case "ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN":
    case "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA":
      return `the server asks for a certificate that it trusts: give the paths of one and of its key as ${cert} and ${key} in ${setting}`;
    default:
      return undefined;
  }
}

const unknownAuthority = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_SIGNATURE_FAILURE",
]);

/** The first code in the chain of causes, which drivers wrap; a chain may be a ring. */
function codeOf(error: unknown): string | undefined {
  let next = error;
  for (let depth = 0; next instanceof Error && depth < 6; depth++) {
    if ("code" in next && typeof next.code === "string" && /^(ERR_|CERT_|[A-Z]+_)/.test(next.code))
      return next.code;
    next = next.cause;
  }
  return undefined;
}

function readPem(name: string, path: string): string {
  const pem = readFile(name, path);
  try {
    // Of a file with several it looks at the first one.
    createSecureContext({ ca: new X509Certificate(pem).toString() });
  } catch (cause) {
    throw new ServiceError("config", `${name} takes the path of a certificate in PEM, got "${path}"`, {
      cause,
    });
  }
  return pem;
}

function readFile(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    throw new ServiceError("config", `${name} takes the path of a readable file, got "${path}" (${why})`, {
      cause,
    });
  }
}
