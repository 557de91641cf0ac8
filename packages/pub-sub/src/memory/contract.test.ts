import { pubSubContract } from "../contract.ts";

const noConnection = "it has no connection";

pubSubContract("memory", async () => ({ url: "memory:", async [Symbol.asyncDispose]() {} }), {
  skip: {
    "a connection that is cut is made again, and subscribers are told of the gap": noConnection,
    "a connection that falls silent is noticed within three seconds, and calls on it end in two":
      noConnection,
    "a server that is killed is come back to, and meanwhile calls are refused without piling up":
      noConnection,
    "one that is opened while there is no server subscribes once there is one": noConnection,
    "closing takes no longer than three seconds, also when the server is silent": noConnection,
  },
});
