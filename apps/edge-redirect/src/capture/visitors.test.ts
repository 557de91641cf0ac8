import { describe, expect, it } from "vitest";

import { createVisitors, type DescribeVisitor } from "./visitors.ts";

const day = 86_400_000;
const now = 20_000 * day;
const salt = (ofDay: number) => Buffer.alloc(32, ofDay);

function visitors(): { describeVisitor: DescribeVisitor; located: string[] } {
  const located: string[] = [];
  const locate = (address: string) => {
    located.push(address);
    return '"country":"","region":"","city":"","asn":0';
  };
  return { describeVisitor: createVisitors({ locate, salt, maxVisitors: 100 }), located };
}

function visitorIn(json: string): unknown {
  const said: unknown = JSON.parse(`{${json}}`);
  return typeof said === "object" && said !== null && "visitor" in said ? said.visitor : undefined;
}

const agent = { "user-agent": "a" };

describe("a visitor", () => {
  it("is the same one at the next click, and is looked up once", () => {
    const { describeVisitor, located } = visitors();
    const first = describeVisitor("192.0.2.1", agent, 1, now);
    expect(describeVisitor("192.0.2.1", agent, 1, now + 1)).toBe(first);
    expect(located).toEqual(["192.0.2.1"]);
    const inFrench = describeVisitor("192.0.2.1", { ...agent, "accept-language": "fr" }, 1, now + 2);
    expect(inFrench).toContain('"language":"fr"');
    expect(visitorIn(inFrench)).toBe(visitorIn(first));
    expect(visitorIn(first)).toMatch(/^[0-9a-f]{32}$/);
  });

  it("C10: is the same one whether the socket is IPv4 or open to both", () => {
    const { describeVisitor } = visitors();
    const json = describeVisitor("::ffff:192.0.2.1", agent, 1, now);
    expect(describeVisitor("192.0.2.1", agent, 1, now)).toBe(json);
  });

  it("is another one with another agent, workspace or day, also when the address is remembered", () => {
    const { describeVisitor } = visitors();
    const ids = [
      describeVisitor("192.0.2.1", agent, 1, now),
      describeVisitor("192.0.2.1", { "user-agent": "b" }, 1, now),
      describeVisitor("192.0.2.1", agent, 2, now),
      describeVisitor("192.0.2.1", agent, 1, now + day),
    ].map(visitorIn);
    expect(new Set(ids).size).toBe(4);
  });

  it("is nobody where the address is gone with its connection", () => {
    expect(visitorIn(visitors().describeVisitor("", agent, 1, now))).toBe("");
  });

  it("is never described by an address", () => {
    const { describeVisitor } = visitors();
    for (const address of ["192.0.2.77", "2001:db8:1:2::77"]) {
      expect(describeVisitor(address, agent, 1, now)).not.toContain(address);
    }
  });
});
