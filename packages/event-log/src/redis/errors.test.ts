import { redisServer } from "@sluice/redis-server/redis-server.ts";
import { ErrorReply } from "@redis/client";
import { expect, it } from "vitest";
import { isGroupGone, toEventLogError } from "./errors.ts";

const server = redisServer("redis://host:6379", "EVENT_LOG_URL");

it.each([
  ["OOM command not allowed when used memory > 'maxmemory'. script: 1a, on @user_script:3.", "full", true],
  ["LOADING Redis is loading the dataset in memory", "unavailable", true],
  ["READONLY You can't write against a read only replica.", "unavailable", true],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", "unavailable", true],
  ["WRONGPASS invalid username-password pair or user is disabled.", "unavailable", true],
  ["WRONGTYPE Operation against a key holding the wrong kind of value", "misuse", false],
])("%s", (message, code, retryable) => {
  const error = toEventLogError(new ErrorReply(message), server);
  expect(error).toMatchObject({ code, retryable });
  expect(error.message).toContain(`redis: host:6379: ${message}`);
  expect(isGroupGone(error)).toBe(false);
});

it.each([
  ["NOGROUP No such key 'sluice:log:clicks' or consumer group 'store'", true],
  ["UNBLOCKED force unblock from blocking operation, instance state changed", false],
])("a group that is gone is told from a read that the server has ended: %s", (message, gone) => {
  expect(isGroupGone(toEventLogError(new ErrorReply(message), server))).toBe(gone);
});

it("no answer at all is unavailable", () => {
  expect(toEventLogError(new Error("connect ECONNREFUSED"), server)).toMatchObject({
    code: "unavailable",
  });
});
