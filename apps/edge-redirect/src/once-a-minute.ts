/** For what a bug does to every visitor alike: the first one is said, the others are in the metrics. */
export function onceAMinute(say: (error: unknown) => void): (error: unknown) => void {
  let nextAt = 0;
  return (error) => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + 60_000;
    say(error);
  };
}
