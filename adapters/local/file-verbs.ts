import type { FileVerbs } from "../../src/contract/operations.js";
import type { AttributeCopier } from "./attributes.js";
import { listLocated, statOf } from "./list.js";
import type { LocalSettings } from "./options.js";
import { createPlainFiles } from "./plain-files.js";
import { readLocated } from "./read.js";
import type { Roots } from "./roots.js";
import type { RunRecord } from "./run-record.js";
import { takeTurns } from "./turns.js";
import { writeLocked } from "./write.js";

export interface FileVerbsOptions {
  readonly roots: Roots;
  readonly record: RunRecord;
  readonly settings: LocalSettings;
  readonly attributes: AttributeCopier;
}

/** The five file verbs. They throw errors of the kernel too. */
export function createFileVerbs({ roots, record, settings, attributes }: FileVerbsOptions): FileVerbs & { attributesLost(): number } {
  const { durable, hardLinks, allowProtected, maxReadBytes } = settings;
  const plainFiles = createPlainFiles();
  let lost = 0;
  const onAttributesLost = (): void => {
    lost += 1;
  };
  return {
    async readFile(path, options = {}) {
      await takeTurns();
      return await readLocated(roots.locate(path), path, options, { maxReadBytes });
    },
    async writeFile(path, data, options = {}) {
      const walker = roots.walkerOf(path, true);
      const spooled = walker.root === record.spoolDirectory;
      const policy = { durable: durable && !spooled, hardLinks, allowProtected: allowProtected || spooled };
      return await writeLocked({ walker, path, data, options, policy, attributes, plainFiles, onAttributesLost });
    },
    async stat(path) {
      await takeTurns();
      const located = roots.locate(path);
      try {
        return statOf(located, path);
      } finally {
        located.close();
      }
    },
    async readdir(path, options = {}) {
      await takeTurns();
      return await listLocated(roots.walkerOf(path), roots.locate(path), path, options.signal);
    },
    async realpath(path) {
      await takeTurns();
      const located = roots.locate(path, { lexical: true });
      located.close();
      return located.canonicalPath;
    },
    attributesLost: () => lost,
  };
}
