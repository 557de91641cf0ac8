import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, it } from "vitest";

import { visit } from "./testing/http.ts";
import { openJournal, openWorld } from "./testing/world.ts";

describeWith("an edge on a Postgres that takes no writes", openWorld, (world) => {
  it("G1 to G5, D13: redirects, counts and limits clicks of whatever link all the same: none is a row there", async () => {
    await world().link("hot");
    await world().link("limited", { maxClicks: 5 });
    const readOnly = new URL(world().postgres.url);
    readOnly.searchParams.set("options", "-c default_transaction_read_only=on");
    await using journal = await openJournal(readOnly.href);
    await using edge = await journal.start();
    const human = { headers: { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0" } };
    for (let count = 0; count < 500; count += 1) {
      expect(await visit(edge.port, "/hot", human)).toMatchObject({ status: 302 });
    }
    for (const status of [302, 302, 302, 302, 302, 410]) {
      expect(await visit(edge.port, "/limited", human)).toMatchObject({ status });
    }
    const { clicks } = await journal.read();
    expect(clicks).toHaveLength(505);
    // Nobody was named as the owner of these links: they are their domain's.
    const owner = (await world().store.resolveDomain("go.example.com"))?.workspaceId;
    expect(new Set(clicks.map(({ workspace_id }) => workspace_id))).toEqual(new Set([owner]));
  });
});
