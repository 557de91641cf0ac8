/** Shut while a batch is in hand that is not parked. */
export interface Gate {
  shut(): void;
  open(): void;
  /** Resolves when it is open. */
  passed(): Promise<void>;
}

export function createGate(): Gate {
  let opened = Promise.withResolvers<void>();
  opened.resolve();
  return {
    shut: () => void (opened = Promise.withResolvers()),
    open: () => opened.resolve(),
    passed: () => opened.promise,
  };
}
