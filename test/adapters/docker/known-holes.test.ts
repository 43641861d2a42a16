import { expect, it } from "vitest";
import { knownHoles } from "../../../adapters/docker/known-holes.js";

const names = (version: string): string[] => knownHoles(version).flatMap((sentence) => sentence.match(/CVE-\d+-\d+/g) ?? []);

it.each([
  ["1.1.5+ds1", ["CVE-2024-21626", "CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881", "CVE-2026-41579"]],
  ["1.1.12", ["CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881", "CVE-2026-41579"]],
  ["1.2.8", ["CVE-2026-41579"]],
  ["1.3.2", ["CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881", "CVE-2026-41579"]],
  ["1.3.6", []],
  ["1.4.2", ["CVE-2026-41579"]],
  ["1.4.3", []],
  ["1.5.0", []],
  ["2.0.0", []],
  ["", []],
  ["unknown", []],
])("D41 runc %s has %j", (version, expected) => {
  expect(names(version)).toEqual(expected);
});
