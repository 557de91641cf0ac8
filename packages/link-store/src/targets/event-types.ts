/** What an endpoint can ask for; docs/events.md has each of them. A test is sent whoever asks for what. */
export const subscribableTypes = ["link.clicked", "endpoint.disabled"] as const;
