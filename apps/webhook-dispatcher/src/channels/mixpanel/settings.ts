import { z } from "zod";
import { text } from "../settings.ts";

const token = text(/^[0-9a-f]{32}$/, "a project token, 32 hex digits");
const serviceAccount = {
  username: text(/^[^\s:]{1,255}$/, "the user name of a service account"),
  secret: text(/^\S{1,255}$/, "the secret of a service account"),
  project_id: text(/^\d{1,20}$/, "the number of a project, which a service account needs"),
};
const common = {
  region: z
    .enum(["us", "eu", "in"], { error: "us, eu or in: where the project's data is kept" })
    .default("us"),
  event_name: text(/^[^$\s][^\p{Cc}]{0,254}$/u, "an event name of at most 255 characters").default(
    "Link Clicked",
  ),
};

/** With a project token, or without one and then with a service account and its project. */
export function settingsSchema(settings: object) {
  return "project_token" in settings
    ? z.strictObject({ project_token: token, ...common })
    : z.strictObject({ ...serviceAccount, ...common });
}
export type MixpanelSettings = z.infer<ReturnType<typeof settingsSchema>>;
