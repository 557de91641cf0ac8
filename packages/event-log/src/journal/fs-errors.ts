import { EventLogError } from "../event-log.ts";

/** True when a file-system call failed with this errno code. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && codes.includes(error.code)
  );
}

/** No room on the device, in the quota, or no inode left. */
export function isNoRoom(error: unknown): boolean {
  return hasCode(error, "ENOSPC", "EDQUOT");
}

/** What a caller of the port is told. */
export function toEventLogError(error: unknown, doing: string): EventLogError {
  if (error instanceof EventLogError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new EventLogError(isNoRoom(error) ? "full" : "unavailable", `journal: ${doing}: ${reason}`, {
    cause: error,
  });
}
