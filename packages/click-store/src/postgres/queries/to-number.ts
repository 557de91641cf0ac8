/** Of a bigint, which the driver gives as text. */
export function toNumber(text: string | undefined): number {
  if (text === undefined || !/^-?\d+$/.test(text))
    throw new Error("a number was asked for, and something else came");
  return Number(text);
}
