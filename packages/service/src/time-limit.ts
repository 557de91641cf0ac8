/** A call outside got no answer in time. */
export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

/** What `promise` gives, or a TimeLimitError after `ms`; what it stands for goes on all the same. */
export async function withinMs<Value>(ms: number, promise: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new TimeLimitError(`no answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
