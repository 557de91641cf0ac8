/** For an option that may be repeated: what its values are parsed to, in their order. */
export function repeated<Value>(parse: (text: string) => Value) {
  return (text: string, before: readonly Value[] | undefined): readonly Value[] => [
    ...(before ?? []),
    parse(text),
  ];
}
