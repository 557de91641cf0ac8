/** Sluice's own version, raised with each release. */
export const version = "0.1.0";
