import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface Certificates {
  /** What a client has to trust. */
  readonly ca: string;
  /** Where that is. */
  readonly caPath: string;
  /** Signed by it, for a DNS name or an address; with `days` below zero it has expired. */
  sign(name: string, days?: number): Certificate;
  selfSigned(name: string): Certificate;
  /** Writes certificate and key as `<file>.pem` and `<file>.key`, for servers and settings that take paths. */
  save(file: string, certificate: Certificate): { readonly cert: string; readonly key: string };
}

/** Made with OpenSSL's command line, in an empty directory. */
export function makeCertificates(dir: string): Certificates {
  const openssl = (...args: string[]): void => {
    execFileSync("openssl", args, { cwd: dir, stdio: "ignore" });
  };
  const read = (file: string): string => readFileSync(join(dir, file), "utf8");
  const selfSign = (name: string): Certificate => {
    openssl("req", "-x509", ...request(name), "-days", "2", "-out", "cert.pem");
    return { key: read("key.pem"), cert: read("cert.pem") };
  };
  const authority = selfSign("authority");
  writeFileSync(join(dir, "authority.pem"), authority.key + authority.cert);
  const caPath = join(dir, "ca.pem");
  writeFileSync(caPath, authority.cert);
  return {
    ca: authority.cert,
    caPath,
    sign(name, days = 2) {
      openssl("req", "-new", ...request(name), "-out", "request.pem");
      const by = ["-CA", "authority.pem", "-CAcreateserial", "-copy_extensions", "copy"];
      openssl("x509", "-req", "-in", "request.pem", ...by, "-days", String(days), "-out", "cert.pem");
      return { key: read("key.pem"), cert: read("cert.pem") };
    },
    selfSigned: selfSign,
    save(file, { cert, key }) {
      const paths = { cert: join(dir, `${file}.pem`), key: join(dir, `${file}.key`) };
      writeFileSync(paths.cert, cert);
      // Postgres takes a key only when nobody else may read it.
      writeFileSync(paths.key, key, { mode: 0o600 });
      return paths;
    },
  };
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem"];

function request(name: string): string[] {
  return [
    ...newKey,
    "-subj",
    `/CN=${name}`,
    "-addext",
    `subjectAltName=${isIP(name) > 0 ? "IP" : "DNS"}:${name}`,
  ];
}
