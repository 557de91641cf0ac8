/** What a started system inherits: everything but the switches of the test run itself. */
export function inheritedEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_OPTIONS: undefined };
}
