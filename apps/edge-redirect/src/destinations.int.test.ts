import { describeWith } from "@sluice/testkit/describe-with.ts";
import { afterAll, beforeAll, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { sendRaw } from "./testing/http.ts";
import { type Journal, openJournal, openWorld } from "./testing/world.ts";

/** Row, what a customer has entered, and what stands in the header where that is another text. */
const destinations: readonly (readonly [string, string, string?])[] = [
  ["B1", "http://www.tübingen.de", "http://www.xn--tbingen-n2a.de/"],
  ["B3", "http://domain.com/bad%20space/"],
  ["B5", "http://example.xyz/content/all?q=%23Eurovision"],
  ["B6", "https://pix.berb.ec/#15022661159797/15022669376570"],
  ["B6", "https://example.com/index.html#Tab0-9"],
  [
    "B7",
    "http://linksredirect.com?pub_id=28CL11&url=https://paytm.com/dth",
    "http://linksredirect.com/?pub_id=28CL11&url=https://paytm.com/dth",
  ],
  ["B8", "http://ozh@example.com#BLAH", "http://ozh@example.com/#BLAH"],
  [
    "B8",
    "http://User:PWd@example.com?User:PWd@Example.com",
    "http://User:PWd@example.com/?User:PWd@Example.com",
  ],
  ["B10", "https://google.com/?abc#123"],
  ["B10", "https://dub.co/blog?emptyquery"],
  ["B15", "fb://profile/33138223345"],
  ["B17", "mailto:user@example.com"],
  [
    "B19",
    "https://github.com/calcom/cal.com/issues?q=is:issue+is:open+label:%22%F0%9F%99%8B%F0%9F%8F%BB%E2%80%8D%E2%99%82%EF%B8%8Fhelp+wanted%22",
  ],
  ["B20", `https://godbolt.org/#z:OYLgh${"A".repeat(16_000)}`],
  ["B20", "https://flpr.app/s#path=any/infrared/Roksan_cd_player.ir&x=1"],
  ["B22", "https://guides.apple.com/?ug=CglEVUIgR3VpZGUSDgiuTRDG%2FfSvoM%2FpgwESDgiuTRCH4PKdzJ3DwT0S4%3D"],
  ["B23", "https://example.com/anypath/?”", "https://example.com/anypath/?%E2%80%9D"],
  ["B23", "https://example.com/中文/", "https://example.com/%E4%B8%AD%E6%96%87/"],
  ["B24", "https://example.com/é", "https://example.com/%C3%A9"],
  ["B25", "https://example.com/%0%0DDgo%0d%0aX-Injected:1"],
];

describeWith("a visitor", openWorld, (world) => {
  let journal: Journal;
  let edge: EdgeProcess;
  beforeAll(async () => {
    const { link, postgres } = world();
    for (const [index, [, destination]] of destinations.entries()) {
      await link(`plain-${index}`, { destination });
      await link(`passing-${index}`, { destination, passQuery: true });
    }
    journal = await openJournal(postgres.url);
    edge = await journal.start();
  });
  afterAll(async () => {
    await edge[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
  });

  it.each(destinations.map(([row, entered, sent = entered], index) => [row, sent, index] as const))(
    "%s: is sent to %s, byte for byte, by a link of either kind",
    async (_, sent, index) => {
      for (const slug of [`plain-${index}`, `passing-${index}`]) {
        const request = `GET /${slug} HTTP/1.1\r\nHost: go.example.com\r\nConnection: close\r\n\r\n`;
        const answer = await sendRaw(edge.port, request);
        expect(/^HTTP\/1\.1 302 .*?\r\nlocation: ([^\r]*)\r\n/is.exec(answer)?.[1]).toBe(sent);
        expect(answer).not.toMatch(/^x-injected/im);
      }
    },
  );
});
