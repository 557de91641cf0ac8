import { expect, it } from "vitest";
import { explainTls, readTls } from "./tls-settings.ts";

function failure(code: string): Error {
  return Object.assign(new Error("no"), { code });
}

it("trouble with TLS is told in words that name the setting, however deep a driver has wrapped it", () => {
  const wrapped = new Error("outer", { cause: failure("SELF_SIGNED_CERT_IN_CHAIN") });
  expect(explainTls(wrapped, "REDIS_URL")).toContain("as ca in REDIS_URL");
  const names = { ca: "sslrootcert", cert: "sslcert", key: "sslkey" };
  expect(explainTls(wrapped, "DATABASE_URL", names)).toContain("as sslrootcert in DATABASE_URL");
  expect(explainTls(failure("CERT_HAS_EXPIRED"), "REDIS_URL")).toContain("has expired");
  expect(explainTls(failure("ECONNREFUSED"), "REDIS_URL")).toBeUndefined();
  expect(explainTls("no error", "REDIS_URL")).toBeUndefined();
});

it("a file that is none of what is wanted is named, and what is in it is not", () => {
  const here = import.meta.filename;
  expect(() => readTls({ ca: here })).toThrow(`ca takes the path of a certificate in PEM, got "${here}"`);
  expect(() => readTls({ ca: here })).not.toThrow("import");
  expect(() => readTls({ ca: "/no/ca.pem" })).toThrow('got "/no/ca.pem" (ENOENT)');
  expect(() => readTls({ key: here })).toThrow("cert and key go together");
  expect(readTls({})).toEqual({});
});
