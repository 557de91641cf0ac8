import { clickStoreContract } from "../contract.ts";
import { openWorld } from "./testing/world.ts";

clickStoreContract("postgres", openWorld);
