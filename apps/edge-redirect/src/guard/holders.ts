/** Who holds how many of something. Everything here takes the same time, however many holders there are. */
export interface Holders<Thing> {
  /** By name; made at the first call, forgotten when it holds nothing any more. */
  holder(name: string): Holder<Thing>;
  add(holder: Holder<Thing>, thing: Thing): void;
  remove(holder: Holder<Thing>, thing: Thing): void;
  /** The oldest suitable thing of one of those who hold the most; looks at some only. */
  find(suits: (thing: Thing) => boolean): Thing | undefined;
}

export interface Holder<Thing> {
  readonly name: string;
  /** Oldest first. */
  readonly things: Set<Thing>;
}

/** Of so many holders with the most, and of so many things of each, `find` looks for one that suits. */
const maxLooked = 32;

export function createHolders<Thing>(): Holders<Thing> {
  const byName = new Map<string, Holder<Thing>>();
  /** At index n those who hold n, since when they do, longest first; one who holds none is in none. */
  const byCount: Set<Holder<Thing>>[] = [new Set()];
  let most = 0;

  function move(holder: Holder<Thing>, from: number, to: number): void {
    byCount[from]?.delete(holder);
    if (to > 0) (byCount[to] ??= new Set()).add(holder);
    if (to > most) most = to;
    else if (byCount[most]?.size === 0) most = to;
  }
  return {
    holder(name) {
      const known = byName.get(name);
      if (known !== undefined) return known;
      const holder = { name, things: new Set<Thing>() };
      byName.set(name, holder);
      return holder;
    },
    add(holder, thing) {
      holder.things.add(thing);
      move(holder, holder.things.size - 1, holder.things.size);
    },
    remove(holder, thing) {
      if (!holder.things.delete(thing)) return;
      move(holder, holder.things.size + 1, holder.things.size);
      if (holder.things.size === 0) byName.delete(holder.name);
    },
    find(suits) {
      for (const holder of (byCount[most] ?? new Set()).values().take(maxLooked)) {
        const found = holder.things.values().take(maxLooked).find(suits);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}
