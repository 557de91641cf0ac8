/** What a body says, or undefined where it is no JSON. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The first thing that a schema has against a value, with its path. */
export function firstProblem(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
) {
  const [issue] = issues;
  return { field: issue?.path.map(String).join(".") ?? "", message: issue?.message ?? "" };
}
