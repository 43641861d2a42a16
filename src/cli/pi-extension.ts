import { resolveTarget } from "../../adapters/index.js";
import { GloveboxError } from "../contract/errors.js";
import { type PiExtension, piExtension } from "../integrations/pi/index.js";

/**
 * The Pi extension of this package: `GLOVEBOX_TARGET=docker: pi -e node_modules/glovebox/dist/pi-extension.js`. A flag would
 * come too late: Pi tells its extensions their flags only when it has started.
 */
const extension: PiExtension = async (pi) => {
  const url = process.env.GLOVEBOX_TARGET;
  if (url === undefined || url === "") {
    const message =
      "GLOVEBOX_TARGET is not set: set it to the target that Pi's tools are to act on, such as docker: or ssh://USER@HOST/PATH.";
    throw new GloveboxError("invalid_argument", message, { retrySafe: true });
  }
  await piExtension(await resolveTarget(url))(pi);
};

// Pi takes a module's default export.
export { extension as default };
