import { defineConfig } from "tsdown";

/*
 * One pass for the library and the command line: small pure-JavaScript dependencies are bundled (TypeBox alone is 266 files
 * and 150 ms to import unbundled), SDKs stay outside and are imported when first needed.
 */
export default defineConfig({
  entry: {
    index: "src/index.ts",
    local: "adapters/local/index.ts",
    memory: "adapters/memory/index.ts",
    docker: "adapters/docker/index.ts",
    ssh: "adapters/ssh/index.ts",
    posix: "adapters/posix/index.ts",
    testing: "src/testing/index.ts",
    "cli/main": "src/cli/main.ts",
  },
  format: "esm",
  platform: "node",
  target: "node20.19",
  dts: true,
  clean: true,
  hash: false,
  noExternal: [/^@sinclair\/typebox/, "p-queue", "p-timeout", "eventemitter3", "commander", "cockatiel", "diff"],
});
