import { tracingChannel } from "node:diagnostics_channel";
import type { Attributes, Span } from "@opentelemetry/api";
import { GloveboxError } from "../contract/errors.js";
import type { Layer } from "../contract/target.js";
import type { AgentTool } from "../contract/tool.js";
import { intercept } from "./intercept.js";

/** `tracing:glovebox:verb:start`, `…:asyncEnd` and so on, with `{ target, verb, path }` as the message. */
const verbs = tracingChannel("glovebox:verb");

/**
 * Each verb call as an OpenTelemetry span, `glovebox.readFile`, a child of whatever span is active, and as messages of the
 * diagnostics channel `glovebox:verb`. Commands, patterns and contents are in neither. Without an SDK spans cost nothing.
 */
export function trace(): Layer {
  return (inner) => {
    const target = inner.label;
    return intercept(async ({ verb, path }, next) => {
      const attributes = { "glovebox.target": target, "glovebox.verb": verb, ...(path === undefined ? {} : { "glovebox.path": path }) };
      return await inSpan(`glovebox.${verb}`, attributes, () => verbs.tracePromise(next, { target, verb, path }));
    })(inner);
  };
}

/**
 * The same tool, each of its calls an `execute_tool` span by OpenTelemetry's conventions for generative AI: the parent of
 * the spans of its verbs. Arguments and results are not in it.
 */
export function traceTool<Parameters>(tool: AgentTool<Parameters>): AgentTool<Parameters> {
  return {
    ...tool,
    execute: (parameters, options) => {
      const attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool.name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": options.id,
      };
      return inSpan(`execute_tool ${tool.name}`, attributes, async (span) => {
        const result = await tool.execute(parameters, options);
        if (result.isError) span.setStatus({ code: ERROR }).setAttribute("error.type", "tool_error");
        return result;
      });
    },
  };
}

/** `SpanStatusCode.ERROR`, without loading the package for it. */
const ERROR = 2;

let loading: Promise<typeof import("@opentelemetry/api")> | undefined;

async function inSpan<Result>(name: string, attributes: Attributes, run: (span: Span) => Promise<Result>): Promise<Result> {
  loading ??= import("@opentelemetry/api");
  const { trace: api } = await loading;
  return await api.getTracer("glovebox").startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await run(span);
    } catch (error) {
      const type = error instanceof GloveboxError ? error.code : "unexpected";
      span.setStatus({ code: ERROR }).setAttribute("error.type", type);
      throw error;
    } finally {
      span.end();
    }
  });
}
