import { InvalidArgumentError } from "commander";

export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("takes a whole number from 1 to 999999.");
  return Number(text);
}
