import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";

const Schema = z.looseObject({});
const Kinded = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
});

/** What the API of one version would refuse of these objects: fields that it does not know, too. */
export async function apiProblems(schemaDir: string, objects: readonly object[]): Promise<string[]> {
  const read = async (name: string) =>
    Schema.parse(JSON.parse(await readFile(join(schemaDir, `${name}.json`), "utf8")));
  // They say more than JSON Schema has words for.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(await read("_definitions"), "https://kubernetes.io/api/_definitions.json");
  const problems: string[] = [];
  for (const object of objects) {
    const { apiVersion, kind, metadata } = Kinded.parse(object);
    const [version = "", group] = apiVersion.split("/").toReversed();
    const name = [kind.toLowerCase(), ...(group === undefined ? [] : [group.split(".")[0]]), version].join(
      "-",
    );
    const schema = await read(name);
    const { $id } = schema;
    const validate = (typeof $id === "string" ? ajv.getSchema($id) : undefined) ?? ajv.compile(schema);
    if (validate(object)) continue;
    for (const { instancePath, message, params } of validate.errors ?? [])
      problems.push(`${kind} ${metadata.name}: ${instancePath} ${message} ${JSON.stringify(params)}`);
  }
  return problems;
}
