import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // Real processes, engines and links share two cores: more workers only make each other late.
    maxWorkers: 2,
    pool: "forks",
    passWithNoTests: false,
  },
});
