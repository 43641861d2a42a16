import { createHash, randomBytes, randomUUID } from "node:crypto";
import {
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type Ask, type AskDecision, type AskRequest, GloveboxError } from "../../index.js";

/** How long a person may take, and how long the client's copy of the question stays valid. */
const ANSWER_TTL_SECONDS = 600;
/** The key of the one question a call asks at a time. */
const CONSENT = "consent";

/** What travels through the client between the question and the answer: signed, bound to the caller, good for one use. */
interface QuestionState {
  readonly nonce: string;
  /** Digest of the question and of the call it is about. */
  readonly asked: string;
  /** Digests of the questions that were answered with yes before. */
  readonly granted: readonly string[];
}

/** The consent to one request. */
export interface Consent {
  /** Called by the scheduler, before any side effect. */
  decide(request: AskRequest): AskDecision;
  /** A question that came up without an answer: the request has to be asked again with one. */
  readonly open: boolean;
  /** What the client is to be told then: a question, or, when it can ask nobody, the error that refuses the call. */
  answer(name: string): Promise<InputRequiredResult | GloveboxError>;
}

export interface Approvals {
  /** For `ServerOptions.requestState`. */
  verify(state: string, context: ServerContext): Promise<unknown>;
  forRequest(context: ServerContext, capabilities: ClientCapabilities | undefined): Consent;
}

/**
 * Puts a hook's question to the person behind the client. The call ends with the question as its result (the SDK turns
 * that into an elicitation for clients of the older revision) and starts again from the top with the answer, so neither
 * the turnstile nor a hook's deadline waits for a person. A yes counts once, for this caller, this question and these arguments.
 */
export function createApprovals(): Approvals {
  const used = new Map<string, number>();
  const codec = createRequestStateCodec<QuestionState>({ key: randomBytes(32), ttlSeconds: ANSWER_TTL_SECONDS, bind: callerOf });

  /** Whether this is the first time that the answer to this question is used. */
  const use = (nonce: string): boolean => {
    const nowMs = performance.now();
    for (const [old, expiresMs] of used) if (expiresMs < nowMs) used.delete(old);
    if (used.has(nonce)) return false;
    used.set(nonce, nowMs + ANSWER_TTL_SECONDS * 1000);
    return true;
  };

  return {
    verify: (state, context) => codec.verify(state, context),
    forRequest(context, capabilities) {
      const state = context.mcpReq.requestState<QuestionState>();
      const response = inputResponse(context.mcpReq.inputResponses, CONSENT);
      const answered = state !== undefined && response.kind === "elicit" && use(state.nonce) ? response.action : undefined;
      const granted = new Set(state?.granted);
      if (state !== undefined && answered === "accept") granted.add(state.asked);
      let open: { readonly asked: string; readonly question: string } | undefined;
      return {
        get open() {
          return open !== undefined;
        },
        decide(request) {
          const asked = digest(request);
          if (granted.has(asked)) return { allow: true };
          if (answered === "decline" && state?.asked === asked) return { allow: false };
          if (answered === "cancel" && state?.asked === asked)
            return { allow: false, reason: "they closed the question without an answer" };
          open = { asked, question: request.question };
          return { allow: false, reason: "the question is still open" };
        },
        async answer(name) {
          if (open === undefined || !canElicit(capabilities)) return cannotAsk(name);
          const next: QuestionState = { nonce: randomUUID(), asked: open.asked, granted: [...granted] };
          const question = inputRequired.elicit({ message: open.question, requestedSchema: { type: "object", properties: {} } });
          return inputRequired({ inputRequests: { [CONSENT]: question }, requestState: await codec.mint(next, context) });
        },
      };
    },
  };
}

/** The scheduler's `ask`: hands each question to the consent of the request that its call belongs to. */
export function askThrough(consentOf: (callId: string) => Consent | undefined): Ask {
  return async (request) => consentOf(request.call.id)?.decide(request) ?? { allow: false, reason: "there is nobody to ask" };
}

function digest({ question, call, tool }: AskRequest): string {
  return createHash("sha256")
    .update(JSON.stringify([tool.environmentId, call.name, call.arguments, question]))
    .digest("base64url");
}

/** An answer given to one user's question is worth nothing in another's hands. */
function callerOf(context: ServerContext): string {
  return `${context.mcpReq.method}\0${context.http?.authInfo?.clientId ?? ""}`;
}

/** Forms are what a client that declares elicitation without saying more supports. */
function canElicit(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function cannotAsk(name: string): GloveboxError {
  const message = `${name} did not run: it needs a person's consent, and this client cannot ask for it (it does not support elicitation). Go on without it, or tell the user that the server's policy would have to allow it.`;
  return new GloveboxError("permission_denied", message, { retrySafe: true });
}
