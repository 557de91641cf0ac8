import { fileURLToPath } from "node:url";

export const s3Version = "2.9.0";

/** Where the server's jars are, or will be put, and are kept between checkouts. */
export const s3Home =
  process.env["S3_HOME_DIR"] ||
  fileURLToPath(new URL(`../../../../.cache/s3proxy-${s3Version}`, import.meta.url));
