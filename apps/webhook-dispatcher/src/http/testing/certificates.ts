import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface Certificates {
  /** What a client has to trust. */
  readonly ca: string;
  /** Signed by it, for a DNS name; with `days` below zero it has expired. */
  sign(name: string, days?: number): Certificate;
  selfSigned(name: string): Certificate;
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
  return {
    ca: authority.cert,
    sign(name, days = 2) {
      openssl("req", "-new", ...request(name), "-out", "request.pem");
      const by = ["-CA", "authority.pem", "-CAcreateserial", "-copy_extensions", "copy"];
      openssl("x509", "-req", "-in", "request.pem", ...by, "-days", String(days), "-out", "cert.pem");
      return { key: read("key.pem"), cert: read("cert.pem") };
    },
    selfSigned: selfSign,
  };
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem"];

function request(name: string): string[] {
  return [...newKey, "-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
}
