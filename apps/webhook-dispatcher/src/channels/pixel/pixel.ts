import type { Target } from "@sluice/link-store/targets/target.ts";
import type { HttpReply, HttpRequest } from "../../http/http-client.ts";
import { all, type Asked, readGenerally } from "../answers.ts";
import type { Channel, OpenTarget, Plan, PlannedRequest, Reading } from "../channel.ts";
import { sift } from "../clicks.ts";
import { hostOf } from "../vendor.ts";
import { macroValues } from "./macros.ts";
import { fillTemplate, parseTemplate } from "./template.ts";

/**
 * Postback pixels: a URL with macros, fired once a click by GET, or by POST without a body. `macros` are the names that a
 * template may use.
 */
export function createPixel({ macros }: { readonly macros: readonly string[] }): Channel {
  return {
    deduplicates: false,
    maxTries: 3,
    open: (target) => openPixel(target, macros),
  };
}

function openPixel({ url, method, allowPrivate }: Target, macros: readonly string[]): OpenTarget {
  const template = parseTemplate(url, macros);
  const request = (values: Readonly<Record<string, string>>): HttpRequest => {
    return { method, url: fillTemplate(template, values), headers: {}, allowPrivate };
  };
  return {
    host: hostOf(template.origin),
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
      request: request({ ...Object.fromEntries(macros.map((name) => [name, "test"])), ts: String(now) }),
      read: (reply, at) => read(reply, { deliveries: [], secrets: [] }, at),
    }),
  };
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
