import { botReasons } from "@sluice/click-event/bot.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describe, expect, it } from "vitest";

import { createVisitors } from "./visitors.ts";

const day = 86_400_000;
const now = 20_000 * day;

const place = {
  country: "DE",
  region: "HE",
  asn: 1234,
  json: '"country":"DE","region":"HE","city":"Kassel"',
  jsonWithoutCity: '"country":"DE","region":"HE","city":""',
};

function visitors({ honourPrivacy = true } = {}) {
  const located: string[] = [];
  const metrics = createMetrics();
  let key = Buffer.alloc(32);
  const made = createVisitors({
    locate: (address) => {
      located.push(address);
      return address === "198.51.100.1" ? { ...place, asn: 16_509 } : place;
    },
    isDataCentre: (asn) => asn === 16_509,
    salt: (ofDay) => (key[0] === ofDay % 256 ? key : (key = Buffer.alloc(32, ofDay))),
    maxVisitors: 100,
    honourPrivacy,
    metrics,
  });
  return { ...made, located, metrics };
}

const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0";
const agent = { "user-agent": browser };

describe("a visitor", () => {
  it("is the same one at the next click, and is looked up once", () => {
    const { describe: of, located } = visitors();
    const first = of("192.0.2.1", agent, 1, now);
    expect(of("192.0.2.1", agent, 1, now + 1)).toBe(first);
    expect(located).toEqual(["192.0.2.1"]);
    expect(first).toMatchObject({
      country: "DE",
      region: "HE",
      userAgent: browser,
      bot: 0,
      untracked: false,
    });
    expect(JSON.parse(`{${first.json}}`)).toMatchObject({ city: "Kassel", asn: 1234, visitor: first.id });
    expect(first.id).toMatch(/^[0-9a-f]{32}$/);
  });

  it("C10: is the same one whether the socket is IPv4 or open to both", () => {
    const { describe: of } = visitors();
    expect(of("::ffff:192.0.2.1", agent, 1, now)).toEqual(of("192.0.2.1", agent, 1, now));
  });

  it("is another one with another agent, workspace or day, also when the address is remembered", () => {
    const { describe: of } = visitors();
    const ids = [
      of("192.0.2.1", agent, 1, now),
      of("192.0.2.1", { "user-agent": "b" }, 1, now),
      of("192.0.2.1", agent, 2, now),
      of("192.0.2.1", agent, 1, now + day),
    ].map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
  });

  it("C16: is nobody where the address is gone with its connection, and is described all the same", async () => {
    const { describe: of, metrics } = visitors();
    expect(of("", agent, 1, now)).toMatchObject({ id: "", userAgent: browser });
    expect((await metrics.render()).body).toContain('edge_visitors_total{address="unknown"} 1');
  });

  it("C14: with an address that nobody on the internet has is counted as such", async () => {
    const { describe: of, metrics } = visitors();
    for (const address of ["172.16.20.3", "100.64.0.1", "::1"]) of(address, agent, 1, now);
    of("192.0.2.1", agent, 1, now);
    const { body } = await metrics.render();
    expect(body).toContain('edge_visitors_total{address="private"} 3');
    expect(body).toContain('edge_visitors_total{address="public"} 1');
  });

  it("D12: in a data centre is told by its network", () => {
    const { describe: of } = visitors();
    expect(of("198.51.100.1", agent, 1, now).bot).toBe(botReasons.data_centre.bit);
    expect(of("198.51.100.1", {}, 1, now).bot).toBe(botReasons.data_centre.bit | botReasons.no_agent.bit);
  });

  it.each([{ "sec-gpc": "1" }, { dnt: "1" }])(
    "who sends %j has no id and no city, where that is honoured",
    (signal) => {
      const headers = { ...agent, ...signal };
      const heard = visitors().describe("192.0.2.1", headers, 1, now);
      expect(heard).toMatchObject({ id: "", untracked: true });
      expect(JSON.parse(`{${heard.json}}`)).toMatchObject({
        country: "DE",
        city: "",
        visitor: "",
        gpc: true,
      });
      const ignored = visitors({ honourPrivacy: false }).describe("192.0.2.1", headers, 1, now);
      expect(ignored.id).not.toBe("");
      expect(ignored.untracked).toBe(false);
      expect(JSON.parse(`{${ignored.json}}`)).toMatchObject({ city: "Kassel", gpc: true });
    },
  );

  it("D15: is the same one whatever a cache is asked to revalidate", () => {
    const { describe: of } = visitors();
    const first = of("192.0.2.1", agent, 1, now);
    const headers = { ...agent, "if-modified-since": new Date(now).toUTCString(), "if-none-match": '"x"' };
    expect(of("192.0.2.1", headers, 1, now)).toBe(first);
  });

  it("is worked out anew once something else decides about them", () => {
    const { describe: of, forget, located } = visitors();
    of("192.0.2.1", agent, 1, now);
    forget();
    of("192.0.2.1", agent, 1, now);
    expect(located).toHaveLength(2);
  });

  it("is never described by an address", () => {
    const { describe: of } = visitors();
    for (const address of ["192.0.2.77", "2001:db8:1:2::77"]) {
      expect(JSON.stringify(of(address, agent, 1, now))).not.toContain(address);
    }
  });
});
