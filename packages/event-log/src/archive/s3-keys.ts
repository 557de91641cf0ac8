import { secret } from "@sluice/service/config-fields.ts";

/** The variables that every program for S3 takes, for the `config.ts` of a program that opens an archive. */
export const s3KeyFields = {
  AWS_ACCESS_KEY_ID: secret().optional().describe("The key of an archive's S3 storage."),
  AWS_SECRET_ACCESS_KEY: secret().optional().describe("The secret of that key."),
  AWS_SESSION_TOKEN: secret().optional().describe("The token of a key that is lent for a time."),
};

export interface S3Keys {
  readonly AWS_ACCESS_KEY_ID?: string | undefined;
  readonly AWS_SECRET_ACCESS_KEY?: string | undefined;
  readonly AWS_SESSION_TOKEN?: string | undefined;
}
