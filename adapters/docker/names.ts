import { GloveboxError } from "../../src/contract/errors.js";

/*
 * dockerode puts names into request paths as they are, so nothing reaches it that is not of these shapes: a `?` or `/` would
 * make it another request.
 */
const FULL_ID = /^[0-9a-f]{64}$/;
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{1,127}$/;
const REPOSITORY =
  /^(?:(?:[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*)(?::\d{1,5})?\/)?[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** The prefix of the labels and variables that only Glovebox sets. */
export const RESERVED_LABEL = "glovebox.";
const RESERVED_VARIABLE = "GLOVEBOX_";
/** The prefix of the names that Glovebox gives by itself. */
export const RESERVED_NAME = "glovebox-";

const MAX_LABEL_NAME = 256;
const MAX_LABEL_VALUE = 4096;
const MAX_VARIABLE = 128 * 1024;

export function isFullId(text: string): boolean {
  return FULL_ID.test(text);
}

/** A container's name or full id, as a caller wrote it. Anything else is `invalid_argument` before any request is made. */
export function checkContainer(text: string): string {
  if (NAME.test(text)) return text;
  throw refuse(
    `${show(text)} is not a container's name. Names have 2 to 128 letters, digits, "_", "." or "-" and begin with a letter or digit`,
  );
}

/** A name for something new. */
export function checkNewName(text: string, what: "container" | "network" | "volume"): string {
  if (!NAME.test(text)) throw refuse(`${show(text)} cannot name a ${what}: use 2 to 128 letters, digits, "_", "." or "-"`);
  if (isFullId(text)) throw refuse(`${show(text)} cannot name a ${what}: it looks like an id`);
  return text;
}

/** The same, where the name is a person's choice: those that Glovebox gives are kept apart. */
export function checkUserName(text: string, what: "container" | "network" | "volume"): string {
  if (text.startsWith(RESERVED_NAME))
    throw refuse(`${show(text)} cannot name a ${what}: names that begin with ${RESERVED_NAME} are given by Glovebox`);
  return checkNewName(text, what);
}

/** Only what the engine itself gave out goes into its paths. */
export function checkEngineId(id: unknown, what: string): string {
  if (typeof id === "string" && FULL_ID.test(id)) return id;
  throw new GloveboxError(
    "unexpected",
    `The Docker engine gave ${show(String(id))} as the id of ${what}. Check what answers at its address.`,
  );
}

/** `repository`, `repository:tag`, `registry:port/repository@sha256:…` or an image's id `sha256:…`. */
export function checkImage(text: string): string {
  if (DIGEST.test(text)) return text;
  const [name = "", digest] = split(text, text.indexOf("@"));
  const colon = name.lastIndexOf(":");
  const [repository = "", tag] = split(name, colon > name.lastIndexOf("/") ? colon : -1);
  const valid =
    REPOSITORY.test(repository) &&
    repository.length <= 255 &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest));
  if (valid) return text;
  throw refuse(
    `${show(text)} is not the name of an image. Write repository:tag, repository@sha256:… with 64 hexadecimal digits, or sha256:…`,
  );
}

function split(text: string, at: number): readonly [string, string?] {
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Labels that a user chose. */
export function checkLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(labels)) {
    if (name.toLowerCase().startsWith(RESERVED_LABEL))
      throw refuse(`The label ${show(name)} is refused: only Glovebox sets labels that begin with ${RESERVED_LABEL}`);
    if (name === "" || name.length > MAX_LABEL_NAME || /[\p{Cc}\s="']/u.test(name)) throw refuse(`${show(name)} cannot be a label's name`);
    if (typeof value !== "string" || value.length > MAX_LABEL_VALUE || /\p{Cc}/u.test(value)) {
      throw refuse(`The label ${show(name)} needs a value of at most ${MAX_LABEL_VALUE} characters without control characters`);
    }
  }
  return labels;
}

const SECRET = /secret|token|passw|api_?key|private/i;

/** Variables for a container. What is in them can be read by whoever may inspect it, so names of secrets are refused unless allowed. */
export function checkVariables(env: Readonly<Record<string, string>>, allowSecrets: boolean): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw refuse(`${show(name)} cannot be a variable's name`);
    if (name.toUpperCase().startsWith(RESERVED_VARIABLE))
      throw refuse(`The variable ${name} is refused: only Glovebox sets those that begin with ${RESERVED_VARIABLE}`);
    if (typeof value !== "string" || value.includes("\0") || value.length >= MAX_VARIABLE)
      throw refuse(`The variable ${name} needs a value shorter than 128 KiB without NUL`);
    if (!allowSecrets && (SECRET.test(name) || SECRET.test(value))) {
      throw refuse(
        `The variable ${name} looks like a secret, and anyone who may inspect the container can read it. Pass it with the env of the command that needs it, or set allowSecretsInInspect`,
      );
    }
  }
  return env;
}

/** `uid` or `uid:gid`; a missing gid is the uid, never root's group. */
export function checkUser(text: string, allowRoot: boolean): { readonly uid: number; readonly gid: number } {
  const [, uidText, gidText] = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(text) ?? [];
  const uid = Number(uidText);
  const gid = Number(gidText ?? uidText);
  if (!(uid < 2 ** 32 - 1 && gid < 2 ** 32 - 1))
    throw refuse(`The user ${show(text)} must be numeric, uid or uid:gid, because names are looked up in the image, which is not trusted`);
  if ((uid === 0 || gid === 0) && !allowRoot)
    throw refuse(
      `The user ${show(text)} is root, and root in the container is root on the host but for its capabilities. Choose another, or set allowRoot`,
    );
  return { uid, gid };
}

/** An absolute path in the container, normalised by hand of the caller: no `..`, no `:` or `,`, which mount options would split at. */
export function checkContainerPath(path: string, option: string): string {
  const sound = path.startsWith("/") && !/[\p{Cc}:,]/u.test(path) && !path.split("/").some((part) => part === "." || part === "..");
  if (!sound || path.length > 1024)
    throw refuse(`${show(path)} cannot be used as ${option}: write an absolute path without "..", ":" and ","`);
  return path === "/" ? path : path.replace(/\/{2,}/g, "/").replace(/\/$/, "");
}

export function refuse(sentence: string): GloveboxError {
  return new GloveboxError("invalid_argument", `${sentence}.`);
}

function show(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
