import { InvalidArgumentError } from "commander";

export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("takes a whole number from 1 to 999999.");
  return Number(text);
}

export function portNumber(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (port > 65_535) throw new InvalidArgumentError("takes a port from 0 to 65535.");
  return port;
}
