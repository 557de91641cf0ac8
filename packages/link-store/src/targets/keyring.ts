import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { invalid } from "../invalid.ts";
import { LinkStoreError } from "../link-store.ts";

/**
 * Encrypts what customers entrust to us: AES-256-GCM under the first of a list of keys; all of them decrypt. `place`
 * says which column of which row a value is for: elsewhere it cannot be decrypted.
 */
export interface Keyring {
  encrypt(text: string, place: string): Buffer;
  /** Throws an UnreadableSecret: made under a key that is not in the list, for another place, or damaged. */
  decrypt(value: Uint8Array, place: string): string;
  /** What values begin with that were made under the first key. */
  readonly current: Buffer;
}

export class UnreadableSecret extends Error {
  override readonly name = "UnreadableSecret";
}

// A value is: version 1, the key's name (four bytes), nonce, tag, ciphertext.
const version = 1;
const headBytes = 5;
/** What GCM is made for. Random ones are safe for some four billion values under one key (NIST SP 800-38D, 8.3). */
const nonceBytes = 12;
const tagBytes = 16;

/** `keys` are 32 bytes each, in base64. Throws `invalid` for others, without showing them. */
export function createKeyring(keys: readonly string[]): Keyring {
  const named = keys.map(readKey);
  const [first] = named;
  if (first === undefined) throw invalid("keys", "at least one key", keys);

  return {
    current: first.head,
    encrypt(text, place) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", first.key, nonce).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([first.head, nonce, cipher.getAuthTag(), sealed]);
    },
    decrypt(value, place) {
      const bytes = Buffer.from(value);
      const head = bytes.subarray(0, headBytes);
      const nonce = bytes.subarray(headBytes, headBytes + nonceBytes);
      const tag = bytes.subarray(headBytes + nonceBytes, headBytes + nonceBytes + tagBytes);
      const found = named.find((key) => key.head.equals(head));
      if (found === undefined)
        throw new UnreadableSecret("it was encrypted under a key that is not in the list");
      if (tag.length < tagBytes) throw new UnreadableSecret("it is cut short");
      const decipher = createDecipheriv("aes-256-gcm", found.key, nonce, { authTagLength: tagBytes })
        .setAAD(Buffer.from(place))
        .setAuthTag(tag);
      const sealed = bytes.subarray(headBytes + nonceBytes + tagBytes);
      try {
        return Buffer.concat([decipher.update(sealed), decipher.final()]).toString("utf8");
      } catch (error) {
        throw new UnreadableSecret("it is damaged, or of another row", { cause: error });
      }
    },
  };
}

interface NamedKey {
  readonly key: Buffer;
  readonly head: Buffer;
}

function readKey(text: string, index: number): NamedKey {
  const key = Buffer.from(text, "base64");
  if (key.length !== 32 || key.toString("base64") !== text) {
    throw new LinkStoreError(
      "invalid",
      `key ${index + 1} takes 32 bytes in base64; got ${text.length} characters`,
    );
  }
  // Of the key's hash, which says nothing about a random key.
  const name = createHash("sha256")
    .update("sluice key name")
    .update(key)
    .digest()
    .subarray(0, headBytes - 1);
  return { key, head: Buffer.concat([Buffer.of(version), name]) };
}
