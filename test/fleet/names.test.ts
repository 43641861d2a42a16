import { describe, expect, it } from "vitest";
import { fleetNames } from "../../src/fleet/names.js";

const facts = { spec: "s", created: "2026-01-01T00:00:00.000Z", volume: "v" };

describe("a fleet's names", () => {
  const names = fleetNames("prod", "a secret for tests only");
  const other = fleetNames("prod", "another secret for tests");

  it("are one for each user, and tell nothing without the secret", () => {
    const name = names.keyed({ key: "ann", tenant: "acme" });
    expect(name).toMatch(/^gbf-prod-k-[0-9a-f]{12}-[0-9a-f]{32}$/);
    expect(fleetNames("prod", "a secret for tests only").keyed({ key: "ann", tenant: "acme" })).toBe(name);
    expect(names.keyed({ key: "acme", tenant: "ann" })).not.toBe(name);
    expect(other.keyed({ key: "ann", tenant: "acme" })).not.toBe(name);
    expect(names.tenantOf(name)).toBe(names.tenantOf(names.keyed({ key: "bob", tenant: "acme" })));
    expect(names.keyedOf(names.replacedOf(name))).toBe(name);
  });

  it("say what kind they are of, and whose", () => {
    const name = names.keyed({ key: "ann", tenant: "" });
    const kinds = [name, names.spare(), names.replacedOf(name), names.doomed(), `${name}x`, "gbf-prod2-x-0"].map(names.kindOf);
    expect(kinds).toEqual(["keyed", "spare", "replaced", "doomed", "foreign", "foreign"]);
    expect([names.isOwn(names.spare()), names.isOwn(names.volume()), names.isOwn(other.spare()), names.isOwn(name)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it("T15 labels count with their seal only, each of them", () => {
    const labels = names.seal(facts);
    expect(names.unseal(labels)).toEqual(facts);
    expect(other.unseal(labels)).toBeUndefined();
    expect(names.unseal(undefined)).toBeUndefined();
    for (const label of Object.keys(labels)) expect(names.unseal({ ...labels, [label]: "forged" })).toBeUndefined();
  });
});
