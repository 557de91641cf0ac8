import { uuidv7 } from "@sluice/click-event/uuid.ts";
import type { Target } from "@sluice/link-store/targets/target.ts";
import type { TestOutcome } from "@sluice/link-store/targets/target-store.ts";
import type { OpenTarget, PlannedRequest } from "../channels/channel.ts";
import type { Channels } from "../channels/channels.ts";
import { ChannelSettingsError } from "../channels/settings-error.ts";
import type { HttpClient } from "../http/http-client.ts";

/** Sends one test to a target and says what came of it. Never rejects but for bugs. */
export async function tryTarget(
  target: Target,
  { channels, http, signal }: { channels: Channels; http: Pick<HttpClient, "send">; signal: AbortSignal },
): Promise<TestOutcome> {
  try {
    const planned = planTest(target, channels[target.kind].open(target), Date.now());
    if (planned === undefined) return failed("invalid-settings", "nothing can be sent to it");
    const reply = await http.send(planned.request, signal);
    const [verdict] = planned.read(reply, Date.now()).verdicts;
    const status = reply.kind === "answer" ? reply.status : 0;
    if (verdict === undefined) return failed("invalid-settings", "its channel says nothing of the answer");
    if (verdict.kind === "delivered") return { ok: true, code: "", status, detail: "" };
    return { ok: false, code: verdict.code, status, detail: verdict.detail ?? "" };
  } catch (error) {
    if (!(error instanceof ChannelSettingsError)) throw error;
    return failed("invalid-settings", error.message);
  }
}

/** The channel's own, or an ordinary delivery of `endpoint.test`. */
function planTest(target: Target, open: OpenTarget, now: number): PlannedRequest | undefined {
  if (open.test !== undefined) return open.test(now);
  const id = uuidv7(now);
  const event = {
    id,
    type: "endpoint.test",
    workspaceId: target.workspaceId,
    ts: now,
    body: JSON.stringify({ version: 1, endpoint_id: target.id }),
  } as const;
  return open.plan([{ target: target.id, event, made: 0, replayed: false }], now).requests[0];
}

function failed(code: string, detail: string): TestOutcome {
  return { ok: false, code, status: 0, detail };
}
