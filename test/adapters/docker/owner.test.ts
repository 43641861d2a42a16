import { spawn } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { describe, expect, it } from "vitest";
import { isOurs, isOwnerDead, LABEL, ownerLabels } from "../../../adapters/docker/owner.js";

const own = ownerLabels("session")[LABEL.owner] ?? "";

function altered(index: number, value: string): string {
  return own
    .split(":")
    .map((part, at) => (at === index ? value : part))
    .join(":");
}

describe("D30 the owner label", () => {
  it("names host, boot, pid namespace, pid and start time", () => {
    expect(own).toMatch(new RegExp(`^${hostname()}:[0-9a-f-]{36}:\\d+:${process.pid}:\\d+$`));
    expect(isOurs(ownerLabels("provisioned"))).toBe(true);
    expect(isOurs({})).toBe(false);
  });

  it("is dead only where that can be proven from here", async () => {
    const child = spawn("true");
    const { pid } = child;
    await once(child, "exit");
    expect(isOwnerDead(own)).toBe(false);
    expect(isOwnerDead(altered(3, String(pid)))).toBe(true);
    expect(isOwnerDead(altered(4, "1"))).toBe(true);
    for (const [index, value] of [
      [0, "another-host"],
      [1, "00000000-0000-0000-0000-000000000000"],
      [2, "1"],
    ] as const) {
      expect(isOwnerDead(altered(3, String(pid)).split(":").with(index, value).join(":"))).toBe(false);
    }
  });

  it.each([
    undefined,
    "",
    "1:2",
    "::::",
    `${own}:`,
    altered(3, "0"),
    altered(3, "-1"),
    altered(3, "x"),
    altered(1, "-"),
    altered(3, "1e3"),
  ])("proves nothing from %j", (label) => {
    expect(isOwnerDead(label)).toBe(false);
  });
});
