import { expect, test } from "vitest";
import { startReceiver } from "./testing/receiver.ts";
import { answerOf, openTestClient, send } from "./testing/send.ts";

test.each([300, 301, 302, 303, 304, 305, 307, 308])(
  "rows 9 and 10: %i is an answer like any other and followed nowhere",
  async (status) => {
    await using canary = await startReceiver((response) => response.end("secret"));
    for (const location of [
      `http://127.0.0.1:${canary.port}/login`,
      `//127.0.0.1:${canary.port}/`,
      `http://[::ffff:127.0.0.1]:${canary.port}/`,
      "/again",
    ]) {
      await using receiver = await startReceiver((response) =>
        response.writeHead(status, { location }).end(),
      );
      await using client = openTestClient();
      const answer = answerOf(await send(client, `http://127.0.0.1:${receiver.port}/`));
      expect([answer.status, answer.headers["location"]]).toEqual([status, location]);
      // As a POST with its body, once.
      expect(receiver.requests.map(({ body }) => body)).toEqual(["{}"]);
      expect(canary.connections).toBe(0);
    }
  },
);

test("row 10: Refresh, Alt-Svc, Link, early hints and a page's own redirects lead nowhere", async () => {
  await using canary = await startReceiver((response) => response.end("secret"));
  const there = `http://127.0.0.1:${canary.port}/`;
  await using receiver = await startReceiver((response) => {
    response.writeEarlyHints({ link: `<${there}>; rel=preload` });
    response.writeHead(200, {
      refresh: `0; url=${there}`,
      "alt-svc": `http/1.1="127.0.0.1:${canary.port}"; persist=1`,
      link: `<${there}>; rel=preconnect`,
      "content-location": there,
      "content-type": "text/html",
    });
    response.end(
      `<meta http-equiv="refresh" content="0; url=${there}"><script>location = "${there}"</script>`,
    );
  });
  await using client = openTestClient();
  for (let time = 0; time < 3; time += 1) {
    expect(answerOf(await send(client, `http://127.0.0.1:${receiver.port}/`)).status).toBe(200);
  }
  expect([receiver.requests.length, canary.connections]).toEqual([3, 0]);
});
