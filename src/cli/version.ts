import manifest from "../../package.json" with { type: "json" };

/** The package's version. */
export const version: string = manifest.version;
