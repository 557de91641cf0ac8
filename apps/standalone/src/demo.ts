import { LinkStoreError, type LinkStore } from "@sluice/link-store/link-store.ts";

const domain = "localhost";
const slug = "demo";

/** A link to click, made where it is not there yet. A person who has disabled or changed it is left alone. */
export async function makeDemoLink(links: LinkStore): Promise<void> {
  await links.ensureDomain(domain, "demo");
  try {
    await links.create({ domain, slug, destination: "https://example.com/?from=sluice" });
  } catch (error) {
    if (!(error instanceof LinkStoreError) || error.code !== "conflict") throw error;
  }
}
