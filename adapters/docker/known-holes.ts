/** Flaws of runc by which a hostile image or container reached the host, and the first version of each line without them. */
const RUNC_FLAWS: readonly { readonly names: string; readonly fixed: readonly string[]; readonly what: string }[] = [
  { names: "CVE-2024-21626", fixed: ["1.1.12"], what: "a working directory that leads out of the container" },
  {
    names: "CVE-2025-31133, CVE-2025-52565, CVE-2025-52881",
    fixed: ["1.2.8", "1.3.3", "1.4.0"],
    what: "mount races while a container starts",
  },
  { names: "CVE-2026-41579", fixed: ["1.3.6", "1.4.3", "1.5.0"], what: "an image whose /dev is a symlink" },
];

/** One sentence for each known flaw that a runc of this version has, unless its distributor mended it without changing the version. */
export function knownHoles(runc: string): readonly string[] {
  const version = parse(runc);
  if (version === undefined) return [];
  return RUNC_FLAWS.filter(({ fixed }) => !fixed.some((first) => isFixed(version, parse(first) ?? version, first === fixed.at(-1)))).map(
    ({ names, what, fixed }) =>
      `runc ${runc} has ${names} (${what}) unless your distribution mended it; upstream it is mended in ${fixed.join(", ")}.`,
  );
}

type Version = readonly [major: number, minor: number, patch: number];

function parse(text: string): Version | undefined {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(text) ?? [];
  return patch === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

/** The same line with at least that patch; or a later line than the last that was mended. */
function isFixed([major, minor, patch]: Version, [fixedMajor, fixedMinor, fixedPatch]: Version, last: boolean): boolean {
  if (major === fixedMajor && minor === fixedMinor) return patch >= fixedPatch;
  return last && (major > fixedMajor || (major === fixedMajor && minor > fixedMinor));
}
