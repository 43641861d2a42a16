import { type Environment, GloveboxError } from "../../index.js";
import { toAiSdkSandbox } from "./sandbox-session.js";
import type {
  AiSdkNetworkSandboxSession,
  AiSdkPortEndpoint,
  AiSdkPortOptions,
  AiSdkSandboxProvider,
  AiSdkSessionRequest,
} from "./sandbox-types.js";

export interface SandboxProviderOptions {
  /** Opens the environment of a new session: a container of its own, an account. Closing it is how the session stops. */
  readonly create: (request: AiSdkSessionRequest) => Promise<Environment>;
  /** Opens the environment of a session that was stopped, its files still there. Without it sessions cannot be resumed. */
  readonly resume?: (request: AiSdkSessionRequest & { readonly sessionId: string }) => Promise<Environment>;
  /** Ports that the target lets through, and where they are reached. */
  readonly ports?: readonly number[];
  readonly portEndpoint?: (environment: Environment, options: AiSdkPortOptions) => Promise<AiSdkPortEndpoint>;
  /** Default "glovebox". */
  readonly providerId?: string;
}

/**
 * A sandbox provider for the AI SDK's harness agents: `aiSdkSandboxProvider({ create: () => openEnvironment(docker()) })`.
 * Every environment that it opens it also closes, when the session stops or its first set-up fails.
 */
export function aiSdkSandboxProvider(options: SandboxProviderOptions): AiSdkSandboxProvider {
  const { create, resume, providerId = "glovebox" } = options;
  return {
    specificationVersion: "harness-sandbox-v1",
    providerId,
    async createSession({ sessionId, abortSignal, onFirstCreate } = {}) {
      const environment = await create({ sessionId, abortSignal });
      try {
        await onFirstCreate?.(toAiSdkSandbox(environment), { abortSignal });
      } catch (error) {
        await environment.close();
        throw error;
      }
      return networkSession(environment, options);
    },
    ...(resume && {
      resumeSession: async ({ sessionId, abortSignal }) => networkSession(await resume({ sessionId, abortSignal }), options),
    }),
  };
}

function networkSession(environment: Environment, { ports = [], portEndpoint }: SandboxProviderOptions): AiSdkNetworkSandboxSession {
  const getPortEndpoint = async (request: AiSdkPortOptions): Promise<AiSdkPortEndpoint> => {
    if (portEndpoint !== undefined && ports.includes(request.port)) return await portEndpoint(environment, request);
    const open = ports.length === 0 ? "none is" : `there are ${ports.join(", ")}`;
    const message = `Port ${request.port} of ${environment.label} cannot be reached from here: ${open}. Name it in the provider's ports, with a portEndpoint.`;
    throw new GloveboxError("unsupported", message, { retrySafe: true });
  };
  const stop = (): Promise<void> => environment.close();
  return {
    ...toAiSdkSandbox(environment),
    id: environment.id,
    defaultWorkingDirectory: environment.cwd,
    ports,
    getPortEndpoint,
    getPortUrl: async (request) => (await getPortEndpoint(request)).url,
    stop,
    destroy: stop,
    restricted: () => toAiSdkSandbox(environment),
  };
}
