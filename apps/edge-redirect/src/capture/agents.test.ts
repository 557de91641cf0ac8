import { limits } from "@sluice/click-event/click-event.ts";
import { describe, expect, it } from "vitest";

import { createAgents } from "./agents.ts";

const read = (json: string): unknown => JSON.parse(`{${json}}`);

describe("what a browser says of itself", () => {
  it("is kept as it was said", () => {
    const { json } = createAgents()({
      "user-agent": "Mozilla/5.0",
      "sec-ch-ua": '"Chromium";v="129", "Not=A?Brand";v="8"',
      "sec-ch-ua-mobile": "?1",
      "sec-ch-ua-platform": '"Android"',
    });
    expect(read(json)).toEqual({
      user_agent: "Mozilla/5.0",
      client_hints: {
        brands: '"Chromium";v="129", "Not=A?Brand";v="8"',
        mobile: "?1",
        platform: '"Android"',
      },
      gpc: false,
    });
  });

  it("is empty where nothing was said", () => {
    expect(read(createAgents()({}).json)).toEqual({
      user_agent: "",
      client_hints: {},
      gpc: false,
    });
  });

  it("of what it runs on is believed before the agent, also when both were seen apart", () => {
    const describeAgent = createAgents();
    const agent =
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36";
    const systemOf = (hint?: string) =>
      describeAgent({ "user-agent": agent, ...(hint !== undefined && { "sec-ch-ua-platform": hint }) })
        .equipment.system;
    expect(systemOf()).toBe("linux");
    expect(systemOf('"Chrome OS"')).toBe("chromeos");
    expect(systemOf()).toBe("linux");
  });

  it("is that of this request, though the same agent said otherwise before", () => {
    const describeAgent = createAgents();
    describeAgent({ "user-agent": "a", "sec-ch-ua-mobile": "?0" });
    expect(read(describeAgent({ "user-agent": "a", "sec-ch-ua-mobile": "?1" }).json)).toMatchObject({
      client_hints: { mobile: "?1" },
    });
    expect(read(describeAgent({ "user-agent": "a", "sec-gpc": "1" }).json)).toMatchObject({
      gpc: true,
    });
    expect(read(describeAgent({ "user-agent": "a", dnt: "1" }).json)).toMatchObject({ gpc: true });
    expect(read(describeAgent({ "user-agent": "a", dnt: "0" }).json)).toMatchObject({ gpc: false });
  });

  it("is remembered only where it is short, so that nobody fills the memory", () => {
    const describeAgent = createAgents();
    const idOf = (headers: Record<string, string>) => describeAgent(headers).id;
    expect(idOf({ "user-agent": "a" })).toBe(idOf({ "user-agent": "a" }));
    for (const long of ["user-agent", "sec-ch-ua", "dnt"]) {
      const headers = { "user-agent": "b", [long]: "x".repeat(2048) };
      expect(idOf(headers)).not.toBe(idOf(headers));
    }
  });

  it("is cut to its limits without splitting a character", () => {
    const { userAgent } = createAgents()({ "user-agent": `${"a".repeat(limits.userAgent - 1)}😀` });
    expect(userAgent).toBe("a".repeat(limits.userAgent - 1));
  });
});
