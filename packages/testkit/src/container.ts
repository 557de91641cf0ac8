export interface Container extends AsyncDisposable {
  /** `host:port` by which the container's port is reached. */
  readonly address: string;
}

/** Starts an image with the library that most know; it is loaded only here, when nothing nearer is to be had. */
export async function startContainer(
  image: string,
  port: number,
  options: { environment?: Record<string, string>; command?: string[]; hostPort?: number } = {},
): Promise<Container> {
  const { GenericContainer } = await import("testcontainers");
  const { environment = {}, command = [], hostPort } = options;
  const started = await new GenericContainer(image)
    .withEnvironment(environment)
    .withCommand(command)
    .withExposedPorts(hostPort === undefined ? port : { container: port, host: hostPort })
    .start();
  return {
    address: `${started.getHost()}:${started.getMappedPort(port)}`,
    async [Symbol.asyncDispose]() {
      await started.stop();
    },
  };
}
