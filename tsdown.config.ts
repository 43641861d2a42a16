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
    nested: "adapters/nested.ts",
    posix: "adapters/posix/index.ts",
    targets: "adapters/index.ts",
    fleet: "src/fleet/index.ts",
    mcp: "src/integrations/mcp/index.ts",
    pi: "src/integrations/pi/index.ts",
    "ai-sdk": "src/integrations/ai-sdk/index.ts",
    "pi-extension": "src/cli/pi-extension.ts",
    openai: "src/integrations/schemas/openai.ts",
    anthropic: "src/integrations/schemas/anthropic.ts",
    testing: "src/testing/index.ts",
    "cli/main": "src/cli/main.ts",
  },
  format: "esm",
  platform: "node",
  target: "node20.19",
  dts: true,
  // What several entries share must not take an entry's name, or the public types come out with mangled names.
  outputOptions: { chunkFileNames: "shared/[name].js" },
  clean: true,
  hash: false,
  fixedExtension: false,
  deps: {
    alwaysBundle: [/^@sinclair\/typebox/, "p-queue", "p-timeout", "eventemitter3", "commander", "diff", "ssh-config", "unbash"],
    neverBundle: ["dockerode", "cockatiel", "ssh2", "sharp", "just-bash", "@opentelemetry/api", /^@modelcontextprotocol\//],
  },
});
