import { z } from "zod";
import { catalogue, type EventType } from "./catalogue.ts";

/** docs/events.md. */
export function eventsPage(): string {
  return `# Events

Written by \`npm run fix\` from \`apps/webhook-dispatcher/src/events/catalogue.ts\`: change it there.

What is sent to webhook endpoints ([webhooks.md](webhooks.md) says how). The body of each request is one event:

\`\`\`json
{ "type": "link.clicked", "timestamp": "2026-06-01T12:00:00.000Z", "data": { … } }
\`\`\`

\`timestamp\` is when it happened, not when it was sent; \`data\` depends on \`type\`. Texts that are not known are empty. A
body is smaller than 20 kB. Fields may be added without notice, so leave alone what you do not know; whatever would break
a reader raises \`data.version\`.

${catalogue.map(section).join("\n")}`;
}

function section({ type, version, when, data, example }: EventType): string {
  return `## ${type}, version ${version}

${when}

Example of its \`data\`:

${fenced(example)}

JSON Schema of its \`data\`:

${fenced(z.toJSONSchema(data, { io: "input" }))}
`;
}

function fenced(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}
