/** The stream of a topic. */
export function keyOf(topic: string): string {
  return `sluice:log:${topic}`;
}
