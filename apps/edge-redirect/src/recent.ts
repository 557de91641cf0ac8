/** A map of bounded size that forgets what has not been used for longest. */
export interface Recent<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  /** All that it holds, in no order. */
  values(): readonly Value[];
  clear(): void;
}

/**
 * Holds the last `max` entries used, or as many as weigh `max` together, and at most as many again. In two halves: when the younger one is full, the older
 * one goes. So using an entry costs no more than looking it up; keeping all in order, as `lru-cache` does, cost as much
 * as the rest of a visit's look-ups.
 */
export function createRecent<Key extends string | number, Value>(
  max: number,
  weigh: (value: Value) => number = () => 1,
): Recent<Key, Value> {
  let weight = 0;
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();

  function set(key: Key, value: Value): void {
    const before = young.get(key);
    weight += weigh(value) - (before === undefined ? 0 : weigh(before));
    if (weight > max && before === undefined) {
      old = young;
      young = new Map();
      weight = weigh(value);
    }
    young.set(key, value);
  }
  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const older = old.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    set,
    values: () => [...young.values(), ...[...old].flatMap(([key, value]) => (young.has(key) ? [] : [value]))],
    clear() {
      young = new Map();
      old = new Map();
      weight = 0;
    },
  };
}
