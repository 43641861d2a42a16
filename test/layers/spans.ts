import { AsyncLocalStorage } from "node:async_hooks";
import { type Attributes, type Context, context, ROOT_CONTEXT, type Span, type SpanContext, type Tracer, trace } from "@opentelemetry/api";

export interface RecordedSpan {
  readonly name: string;
  readonly parent: string | undefined;
  readonly attributes: Attributes;
  /** 0 unset, 1 ok, 2 error. */
  status: number;
  ended: boolean;
}

/** Registers a recorder of spans as OpenTelemetry's global provider, for the rest of the process. */
export function recordSpans(): readonly RecordedSpan[] {
  const spans: RecordedSpan[] = [];
  const byId = new Map<string, RecordedSpan>();
  const contexts = new AsyncLocalStorage<Context>();
  const active = (): Context => contexts.getStore() ?? ROOT_CONTEXT;

  const startSpan: Tracer["startSpan"] = (name, options = {}, around = active()) => {
    const parent = trace.getSpan(around)?.spanContext().spanId;
    const recorded: RecordedSpan = {
      name,
      parent: parent && byId.get(parent)?.name,
      attributes: { ...options.attributes },
      status: 0,
      ended: false,
    };
    const spanContext: SpanContext = {
      traceId: "1".padStart(32, "0"),
      spanId: String(spans.push(recorded)).padStart(16, "0"),
      traceFlags: 1,
    };
    byId.set(spanContext.spanId, recorded);
    const span = {
      spanContext: () => spanContext,
      setAttribute(key: string, value: string) {
        recorded.attributes[key] = value;
        return span;
      },
      setStatus({ code }: { readonly code: number }) {
        recorded.status = code;
        return span;
      },
      end() {
        recorded.ended = true;
      },
    };
    return span as unknown as Span;
  };
  const startActiveSpan = ((name: string, options: object, run: (span: Span) => unknown) => {
    const span = startSpan(name, options);
    return contexts.run(trace.setSpan(active(), span), () => run(span));
  }) as Tracer["startActiveSpan"];

  context.setGlobalContextManager({
    active,
    with: (around, run, self, ...args) => contexts.run(around, () => run.apply(self as never, args)),
    bind: (_around, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan }) });
  return spans;
}
