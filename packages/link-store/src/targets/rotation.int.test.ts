import type { Log } from "@sluice/service/log.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { connect, sql } from "../testing/raw-postgres.ts";
import { drawKey, openTargetWorld } from "../testing/target-world.ts";

const now = 1_790_000_000_000;
const url = "https://hooks.example/";

describeWith("keys of targets", openTargetWorld, (world) => {
  const create = () =>
    world().targets.create(1, { kind: "webhook", url, headers: { "x-key": "secret" } }, now);

  test("after a rotation of keys all is readable under the new one alone, and rotating again changes nothing", async () => {
    const { key, withKeys, targets } = world();
    const made = [await create(), await targets.create(1, { kind: "klaviyo", settings: { key: "pk" } }, now)];
    const [endpoint] = made;
    if (endpoint === undefined) throw new Error("nothing made");
    const rotated = await targets.rotateSecret(endpoint.id, { now });
    const young = drawKey();
    const both = withKeys([young, key]);
    const [one, two] = await Promise.all([both.reencrypt(), both.reencrypt()]);
    expect(one.changed + two.changed).toBeGreaterThanOrEqual(4);
    expect(await both.reencrypt()).toEqual({ changed: 0, unreadable: 0 });
    const alone = withKeys([young]);
    expect(await alone.show(endpoint.id, now)).toEqual(rotated);
    expect(await alone.list(1, now)).toHaveLength(2);
    // For the tests that follow.
    await withKeys([key, young]).reencrypt();
  });

  test("what is written while keys are rotated is not overwritten", async () => {
    const { key, withKeys, targets, url: postgres } = world();
    const { id } = await create();
    const young = drawKey();
    await using other = await connect(postgres);
    // Holds the row until the rotation waits for it.
    await other.query("BEGIN");
    await other.query(`UPDATE webhook_endpoints SET secret = headers WHERE id = ${id.slice(3)}`);
    const rotating = withKeys([young, key]).reencrypt();
    await expect.poll(() => sql(postgres, "SELECT FROM pg_locks WHERE NOT granted")).not.toHaveLength(0);
    await other.query("COMMIT");
    await rotating;
    const rows = await sql(
      postgres,
      `SELECT secret = headers AS same FROM webhook_endpoints WHERE id = ${id.slice(3)}`,
    );
    expect(rows).toEqual([{ same: true }]);
    await targets.delete(id);
    await withKeys([key, young]).reencrypt();
  });

  test("a target that cannot be decrypted is left out and told of; the rest goes on", async () => {
    const { url: postgres, targets, withKeys, key } = world();
    const [broken, moved, fine] = [await create(), await create(), await create()];
    await sql(postgres, "UPDATE webhook_endpoints SET verified_at = now()");
    await sql(
      postgres,
      `UPDATE webhook_endpoints SET secret = set_byte(secret, 40, 0) WHERE id = ${broken.id.slice(3)}`,
    );
    await sql(
      postgres,
      `UPDATE webhook_endpoints SET secret = (SELECT secret FROM webhook_endpoints WHERE id = ${fine.id.slice(3)})
       WHERE id = ${moved.id.slice(3)}`,
    );
    const told: unknown[] = [];
    const log: Log = { ...silentLog, error: (fields: object) => told.push(fields) };
    const ids = (await withKeys([key], log).sendable(now)).map(({ id }) => id);
    expect(ids).toContain(fine.id);
    expect(ids).not.toContain(broken.id);
    expect(ids).not.toContain(moved.id);
    expect(told).toMatchObject([{ target: broken.id }, { target: moved.id }]);
    await expect(targets.show(broken.id, now)).rejects.toThrow(/^secrets of ep_\d+ cannot be decrypted/);
    const young = drawKey();
    expect((await withKeys([young, key]).reencrypt()).unreadable).toBe(2);
  });
});
