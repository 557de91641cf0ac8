// Tests, too, read the environment in one place only.

/** Where services are that a test need not start; undefined where none is named. */
export const given = {
  postgres: nonEmpty(process.env["DATABASE_URL"]),
  clickhouse: nonEmpty(process.env["CLICKHOUSE_URL"]),
  kafka: nonEmpty(process.env["KAFKA_URL"]),
  redis: nonEmpty(process.env["REDIS_URL"]),
  s3: nonEmpty(process.env["S3_URL"]),
  seed: nonEmpty(process.env["SLUICE_TEST_SEED"]),
} as const;

/** In CI a service that cannot be had is a failure; elsewhere its tests are skipped, loudly. */
export const inCi = nonEmpty(process.env["CI"]) !== undefined;

function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}
