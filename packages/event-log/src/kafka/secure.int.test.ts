import { setScramPassword } from "@sluice/local-services/kafka-scram.ts";
import type { KafkaListener } from "@sluice/local-services/kafka-broker.ts";
import { startKafka } from "@sluice/local-services/kafka.ts";
import { choosePort } from "@sluice/local-services/port.ts";
import { silentLog, type Log } from "@sluice/service/log.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { type Certificates, makeCertificates } from "@sluice/testkit/certificates.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { provide } from "@sluice/testkit/provide.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import kafkajs from "kafkajs";
import { expect, it } from "vitest";
import { EventLogError } from "../event-log.ts";
import { openKafkaEventLog } from "./event-log.ts";
import { createTopics } from "./topics.ts";

// One broker with a listener for each way in. Starting it is most of the time that this file takes.

const password = "s3cret:p@ss/word";
const quoted = encodeURIComponent(password);

async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const certificates = makeCertificates(stack.use(await tempDir()).path);
  const others = makeCertificates(stack.use(await tempDir()).path);
  const names = ["LOGIN", "CLIENTS", "EXPIRED"];
  const ports: Record<string, number> = {};
  for (const name of names) ports[name] = await choosePort("kafka", "127.0.0.1", undefined);
  const listener = (name: string, properties: KafkaListener["properties"], days = 2): KafkaListener => ({
    port: ports[name] ?? 0,
    protocol: name === "LOGIN" ? "SASL_SSL" : "SSL",
    properties: { ...keyStore(certificates, days), ...properties },
  });
  const cluster = stack.use(
    await startKafka({
      dataDir: stack.use(await tempDir()).path,
      log: silentLog,
      settings: {
        listeners: {
          LOGIN: listener("LOGIN", logins),
          CLIENTS: listener("CLIENTS", { ...trustStore(certificates), "ssl.client.auth": "required" }),
          EXPIRED: listener("EXPIRED", {}, -1),
        },
      },
    }),
  );
  await setScramPassword(cluster.brokers[0] ?? "", "clicks", password);
  const client = certificates.save("client", certificates.sign("edge"));
  const stranger = others.save("stranger", others.sign("stranger"));
  const opened = stack.move();
  return {
    plainUrl: cluster.url,
    ca: certificates.caPath,
    otherCa: others.caPath,
    client,
    stranger,
    at: (name: string) => `127.0.0.1:${ports[name]}`,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const module = "org.apache.kafka.common.security";
const logins = {
  "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
  "plain.sasl.jaas.config": `${module}.plain.PlainLoginModule required user_clicks="${password}";`,
  "scram-sha-256.sasl.jaas.config": `${module}.scram.ScramLoginModule required;`,
  "scram-sha-512.sasl.jaas.config": `${module}.scram.ScramLoginModule required;`,
};

function keyStore(certificates: Certificates, days: number) {
  const { cert, key } = certificates.sign("127.0.0.1", days);
  // Key and certificate in one file, which is how the broker takes PEM.
  const store = certificates.save(`broker${days}`, { cert: key + cert, key });
  return { "ssl.keystore.type": "PEM", "ssl.keystore.location": store.cert };
}

function trustStore({ caPath }: Certificates) {
  return { "ssl.truststore.type": "PEM", "ssl.truststore.location": caPath };
}

const want = { minRecords: 1, maxRecords: 10, maxBytes: 1e6, maxWaitMs: 30_000 };

/** What a person is told who starts a service with this URL. */
async function refusal(url: string): Promise<string> {
  try {
    await using log = await openKafkaEventLog(url, { log: silentLog, metrics: createMetrics() });
    return `opened ${typeof log}`;
  } catch (error) {
    if (!(error instanceof EventLogError)) throw error;
    return errorLine(error);
  }
}

describeWith(
  "Kafka behind TLS and passwords",
  () => provide("Kafka", openWorld, () => Promise.reject(new Error("the listeners are made here"))),
  (world) => {
    it.each(["plain", "scram-sha-256", "scram-sha-512"])(
      "a user with a password is let in by %s, and what he writes he reads",
      async (sasl) => {
        const { at, ca } = world();
        const url = `kafka://clicks:${quoted}@${at("LOGIN")}?sasl=${sasl}&tls=on&ca=${ca}`;
        expect(await roundTrip(url, sasl)).toEqual(["a click"]);
      },
    );

    it("a wrong password, user or mechanism is said to be one, and the password is not repeated", async () => {
      const { at, ca } = world();
      const end = `${at("LOGIN")}?tls=on&ca=${ca}`;
      for (const sasl of ["plain", "scram-sha-512"]) {
        const said = await refusal(`kafka://clicks:wr0ng@${end}&sasl=${sasl}`);
        expect(said).toContain("mend user and password in EVENT_LOG_URL");
        expect(said).not.toContain("wr0ng");
      }
      const stranger = await refusal(`kafka://nobody:${quoted}@${end}&sasl=scram-sha-256`);
      expect(stranger).toContain("mend user and password in EVENT_LOG_URL");
    });

    it("a certificate of our own is shown to brokers that ask for one; without one they say so", async () => {
      const { at, ca, client, stranger } = world();
      const start = `kafka://${at("CLIENTS")}?tls=on&ca=${ca}`;
      expect(await roundTrip(`${start}&cert=${client.cert}&key=${client.key}`, "mtls")).toEqual(["a click"]);
      for (const shown of ["", `&cert=${stranger.cert}&key=${stranger.key}`])
        expect(await refusal(start + shown)).toContain("as cert and key in EVENT_LOG_URL");
      expect(await refusal(`${start}&cert=${client.cert}&key=${stranger.key}`)).toContain(
        "key takes the key of the certificate in cert",
      );
    });

    it("brokers whose certificate cannot be trusted are not talked to, and it is said why", async () => {
      const { at, ca, otherCa, plainUrl } = world();
      const login = `kafka://clicks:${quoted}@${at("LOGIN")}?sasl=plain&tls=on`;
      const untrusted = "give the path of the authority's certificate as ca in EVENT_LOG_URL";
      expect(await refusal(login)).toContain(untrusted);
      expect(await refusal(`${login}&ca=${otherCa}`)).toContain(untrusted);
      expect(await refusal(`kafka://${at("EXPIRED")}?tls=on&ca=${ca}`)).toContain("has expired");
      const byName = login.replace("127.0.0.1", "localhost");
      expect(await refusal(`${byName}&ca=${ca}`)).toContain("use the name that is in it");
      expect(await refusal(`${plainUrl}?tls=on`)).toContain("kafka: reaching");
    });

    it("a topic that may lose clicks is warned of once, with what to change and to what", async () => {
      const { plainUrl } = world();
      await makeTopic(plainUrl, "weak", { "cleanup.policy": "compact", "retention.ms": "3600000" });
      const warnings: object[] = [];
      const log: Log = { ...silentLog, warn: (fields) => void warnings.push(fields) };
      await using events = await openKafkaEventLog(plainUrl, { log, metrics: createMetrics() });
      for (let time = 0; time < 2; time++) {
        const options = { group: "g", until: "now", signal: new AbortController().signal } as const;
        await using reader = await events.open("weak", options);
        expect(await reader.next(want)).toBeUndefined();
      }
      expect(warnings).toEqual([
        { topic: "weak", setting: "cleanup.policy", takes: "delete", got: "compact" },
        { topic: "weak", setting: "retention.ms", takes: "259200000 or more, or -1", got: "3600000" },
      ]);
    });
  },
);

/** Appends a record to a new topic of this name, and gives what a reader finds there. */
async function roundTrip(url: string, topic: string): Promise<string[]> {
  const warnings: object[] = [];
  const log: Log = { ...silentLog, warn: (fields) => void warnings.push(fields) };
  await createTopics(url, [{ topic, partitions: 1, replication: 1 }]);
  await using events = await openKafkaEventLog(url, { log, metrics: createMetrics() });
  await events.append(topic, [{ key: "k", value: Buffer.from("a click") }]);
  await using reader = await events.open(topic, {
    group: "g",
    until: "now",
    signal: new AbortController().signal,
  });
  const batch = await reader.next(want);
  await batch?.commit();
  // As `createTopics` makes it nothing is wrong with it.
  expect(warnings).toEqual([]);
  return (batch?.records ?? []).map(({ value }) => Buffer.from(value).toString());
}

async function makeTopic(url: string, topic: string, settings: Record<string, string>): Promise<void> {
  const brokers = [url.replace("kafka://", "")];
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
    await admin.createTopics({
      topics: [{ topic, numPartitions: 1, replicationFactor: 1, configEntries }],
    });
  } finally {
    await admin.disconnect();
  }
}
