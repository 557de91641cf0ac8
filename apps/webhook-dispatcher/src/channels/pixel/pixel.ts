import { pixelMacros } from "@sluice/link-store/targets/pixel-macros.ts";
import type { Target } from "@sluice/link-store/targets/target.ts";
import type { HttpReply, HttpRequest } from "../../http/http-client.ts";
import { all, type Asked, readGenerally } from "../answers.ts";
import type { Channel, OpenTarget, Plan, PlannedRequest, Reading } from "../channel.ts";
import { sift } from "../clicks.ts";
import { hostOf } from "../vendor.ts";
import { macroValues } from "./macros.ts";
import { fillTemplate, parseTemplate, startOf } from "./template.ts";

/** Postback pixels: a URL with macros, fired once a click by GET, or by POST without a body. */
export const pixel: Channel = { deduplicates: false, maxTries: 3, open: openPixel };

function openPixel({ url, method, allowPrivate }: Target): OpenTarget {
  const template = parseTemplate(url);
  const request = (values: Readonly<Record<string, string>>): HttpRequest => {
    return { method, url: fillTemplate(template, values), headers: {}, allowPrivate };
  };
  return {
    host: hostOf(startOf(url)),
    maxEvents: 1,
    plan(deliveries): Plan {
      const { clicks, skipped } = sift(deliveries);
      const requests = clicks.map((click): PlannedRequest => {
        const asked = { deliveries: [click.delivery], secrets: [] };
        return {
          deliveries: asked.deliveries,
          request: request(macroValues(click)),
          read: (reply, now) => read(reply, asked, now),
        };
      });
      return { requests, skipped };
    },
    test: (now): PlannedRequest => ({
      deliveries: [],
      request: request(testValues(now)),
      read: (reply, at) => read(reply, { deliveries: [], secrets: [] }, at),
    }),
  };
}

/** Made up, but for the time: a receiver may refuse what is not of now. */
function testValues(now: number): Readonly<Record<string, string>> {
  const ts = { ts: String(Math.floor(now / 1_000)), ts_ms: String(now) };
  return { ...Object.fromEntries(pixelMacros.map((name) => [name, "test"])), ...ts };
}

function read(reply: HttpReply, asked: Asked, now: number): Reading {
  const general = readGenerally(reply, asked, now);
  if (general !== undefined || reply.kind === "failure") return general ?? all(asked, { kind: "delivered" });
  return all(
    asked,
    reply.status < 300
      ? { kind: "delivered" }
      : { kind: "failed", code: "unexpected-status", detail: `HTTP ${reply.status}` },
  );
}
