/*
 * The shapes of the AI SDK's sandbox session (@ai-sdk/provider-utils 5, Experimental_SandboxSession) and of its harness
 * sandbox provider (@ai-sdk/harness 1), written out: those packages need a newer Node than ours.
 * test/integrations/ai-sdk holds them against the published types.
 */

interface PathOptions {
  readonly path: string;
  readonly abortSignal?: AbortSignal;
}

export interface AiSdkReadTextOptions extends PathOptions {
  /** Default "utf-8". */
  readonly encoding?: string;
  /** 1-based, inclusive. */
  readonly startLine?: number;
  /** 1-based, inclusive; beyond the end means the end. */
  readonly endLine?: number;
}

export interface AiSdkWriteOptions<Content> extends PathOptions {
  readonly content: Content;
}

export interface AiSdkCommandOptions {
  readonly command: string;
  readonly workingDirectory?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly abortSignal?: AbortSignal;
}

export interface AiSdkProcess {
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  wait(): Promise<{ exitCode: number }>;
  kill(): Promise<void>;
}

export interface AiSdkSpawn {
  /** Rejects `unsupported` before anything is started. */
  (options: AiSdkCommandOptions & { readonly stdin: true }): Promise<never>;
  (options: AiSdkCommandOptions & { readonly stdin?: boolean }): Promise<AiSdkProcess>;
}

export interface AiSdkSandboxSession {
  readonly description: string;
  readFile(options: PathOptions): Promise<ReadableStream<Uint8Array> | null>;
  readBinaryFile(options: PathOptions): Promise<Uint8Array | null>;
  readTextFile(options: AiSdkReadTextOptions): Promise<string | null>;
  writeFile(options: AiSdkWriteOptions<ReadableStream<Uint8Array>>): Promise<void>;
  writeBinaryFile(options: AiSdkWriteOptions<Uint8Array>): Promise<void>;
  writeTextFile(options: AiSdkWriteOptions<string> & { readonly encoding?: string }): Promise<void>;
  stat(options: PathOptions): Promise<{ type: "file" | "directory" | "other"; size: number } | null>;
  listDirectory(options: PathOptions): Promise<{ name: string; type: "file" | "directory" | "symlink" | "other" }[] | null>;
  deleteFile(options: PathOptions): Promise<boolean>;
  readonly spawn: AiSdkSpawn;
  run(options: AiSdkCommandOptions): Promise<{ exitCode: number; stdout: string; stderr: string }>;
}

export interface AiSdkPortOptions {
  readonly port: number;
  readonly protocol?: "http" | "https" | "ws";
}

export interface AiSdkPortEndpoint {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AiSdkNetworkSandboxSession extends AiSdkSandboxSession {
  readonly id: string;
  readonly defaultWorkingDirectory: string;
  readonly ports: readonly number[];
  getPortEndpoint(options: AiSdkPortOptions): Promise<AiSdkPortEndpoint>;
  getPortUrl(options: AiSdkPortOptions): Promise<string>;
  stop(): Promise<void>;
  destroy(): Promise<void>;
  restricted(): AiSdkSandboxSession;
}

export interface AiSdkSessionRequest {
  /** The same for a session and its resumption. */
  readonly sessionId?: string;
  readonly abortSignal?: AbortSignal;
}

export interface AiSdkSandboxProvider {
  readonly specificationVersion: "harness-sandbox-v1";
  readonly providerId: string;
  createSession(
    options?: AiSdkSessionRequest & {
      readonly identity?: string;
      readonly onFirstCreate?: (session: AiSdkSandboxSession, options: { abortSignal?: AbortSignal }) => Promise<void>;
    },
  ): Promise<AiSdkNetworkSandboxSession>;
  resumeSession?(options: AiSdkSessionRequest & { readonly sessionId: string }): Promise<AiSdkNetworkSandboxSession>;
}
