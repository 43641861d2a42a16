import { GloveboxError } from "../../src/contract/errors.js";

/** An answer with that status is as good as a success. */
export async function unlessStatus(status: number, work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.details.statusCode !== status) throw error;
  }
}
