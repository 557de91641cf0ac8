import { randomInt } from "node:crypto";

/** Without look-alikes (0 O o, 1 l I); seven of them make 10^12 slugs, where cases are not told apart 10^10. */
const alphabets = {
  exact: "23456789abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
  folded: "23456789abcdefghijkmnpqrstuvwxyz",
} as const;
const drawnLength = 7;

/** A slug that can be read aloud, and no `foldSlug` changes if it is `folded`. */
export function drawSlug(form: keyof typeof alphabets): string {
  const alphabet = alphabets[form];
  return Array.from({ length: drawnLength }, () => alphabet.charAt(randomInt(alphabet.length))).join("");
}
