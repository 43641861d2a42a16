import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The long ones, which begin first: else the last of them runs alone at the end. */
const LONG = /\/test\/(contract|faults)\//;

class LongOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(({ moduleId }) => LONG.test(moduleId)), ...sorted.filter(({ moduleId }) => !LONG.test(moduleId))];
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // Real processes, engines and links share two cores: more workers only make each other late.
    maxWorkers: 2,
    pool: "forks",
    sequence: { sequencer: LongOnesFirst },
    // Two cores under real engines and links have rare moments of their own. A test that passed only at a second try is reported so.
    retry: process.env.CI === "true" ? 2 : 0,
    passWithNoTests: false,
  },
});
