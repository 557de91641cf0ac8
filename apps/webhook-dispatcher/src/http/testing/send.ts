import type { HttpAnswer, HttpClient, HttpFailure, HttpReply, HttpRequest } from "../http-client.ts";
import { type HttpClientOptions, openHttpClient } from "../open.ts";

/** A client for servers on this machine. */
export function openTestClient(options: Partial<HttpClientOptions> = {}): HttpClient {
  return openHttpClient({ allowHttp: true, ports: "any", userAgent: "Sluice-Test/1", ...options });
}

/** A POST to a target that may reach private networks, unless said otherwise. */
export function send(
  client: HttpClient,
  url: string,
  request: Partial<HttpRequest> = {},
): Promise<HttpReply> {
  const never = new AbortController().signal;
  return client.send({ method: "POST", url, headers: {}, body: "{}", allowPrivate: true, ...request }, never);
}

export function answerOf(reply: HttpReply): HttpAnswer {
  if (reply.kind === "answer") return reply;
  throw new Error(`failed: ${reply.code}`);
}

export function failureOf(reply: HttpReply): HttpFailure {
  if (reply.kind === "failure") return reply;
  throw new Error(`answered: ${reply.status}`);
}
