import { callListener } from '@ethosagent/policy';
import type { AuditSink } from '@ethosagent/types';
import {
  type Context,
  type Meter,
  metrics,
  ProxyTracerProvider,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { AccessLog } from './access-log.js';
import { recordCallSpan } from './call-span.js';
import { createInstruments, type Instruments, type TurnFacts } from './instruments.js';
import { type TurnEvent, traceTurn } from './trace-turn.js';

const NAME = '@ethosagent/otel';

/** Where spans and metrics go, and what they hold. */
export interface TelemetryOptions {
  /** That of the global tracer provider when absent. */
  tracer?: Tracer;
  /** That of the global meter provider when absent. */
  meter?: Meter;
  /**
   * Whether spans of calls hold the arguments, as the audit does: without the secrets that the call
   * resolved. Needs `auditArguments` of the runtime.
   */
  arguments?: boolean;
  /** The same for what the model reads. Needs `auditResults` of the runtime. */
  results?: boolean;
}

/** Spans and metrics of one runtime. */
export interface Telemetry {
  /**
   * For `audit` of the runtime: `audit: [telemetry.sink]` is beside its log. Each call is a span
   * `execute_tool <name>`, with one for each of its first 1,000 accesses. It never refuses an access.
   *
   * The span is made at the end of the call, below the turn of its session with `traceTurn`, else below
   * the active span. When a framework's own span for the call is active, that one gets the attributes
   * instead. A span of the tool itself, or of an instrumented `fetch`, is below the active span.
   */
  readonly sink: AuditSink;
  /**
   * Gives the events of a turn as they come, with a span `invoke_agent` around them, one `chat` for
   * each step, and the spans of its calls below it.
   */
  traceTurn<E extends TurnEvent>(events: AsyncIterable<E>, facts?: TurnFacts): AsyncIterable<E>;
}

/**
 * Spans and metrics by the GenAI semantic conventions of OpenTelemetry, with own attributes under
 * `ethos.`. Without a provider nothing is recorded.
 *
 * @param options the tracer and the meter; those of the global providers when absent
 * @returns the audit sink, and a function that traces turns
 * @example
 * ```ts
 * const telemetry = createTelemetry();
 * const { loop } = await createAgent({ home, personality, model, audit: [telemetry.sink] });
 * for await (const event of telemetry.traceTurn(loop.run({ sessionId, prompt }))) show(event);
 * ```
 */
export function createTelemetry(options: TelemetryOptions = {}): Telemetry {
  const { tracer = trace.getTracer(NAME) } = options;
  let made: Instruments | undefined;
  // Created at the first use: a meter that is created before the program has set up its provider
  // never records anything.
  const instruments = () => {
    made ??= createInstruments(options.meter ?? metrics.getMeter(NAME));
    return made;
  };
  const isTraced = () => options.tracer !== undefined || hasTracerProvider();
  const accesses = new AccessLog();
  /** The running turns, by their sessions. */
  const turns = new Map<string, Context>();
  return {
    sink: {
      // An error here would make the access be refused, so it is caught.
      record: (event) =>
        callListener(() => {
          if (isTraced()) accesses.begin(event);
          instruments().access(event);
        }),
      completed: (event, durationMs) => accesses.end(event, durationMs),
      call: (call) =>
        callListener(() => {
          instruments().call(call);
          if (!isTraced()) return;
          recordCallSpan(call, {
            tracer,
            accesses: accesses.take(call),
            parent: turns.get(call.sessionId),
            withArguments: options.arguments === true,
            withResults: options.results === true,
          });
        }),
    },
    traceTurn: (events, facts = {}) =>
      traceTurn(events, { tracer, instruments: instruments(), turns, facts }),
  };
}

/** Whether a provider receives the spans of the global tracer. */
function hasTracerProvider(): boolean {
  const provider = trace.getTracerProvider();
  return (
    !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(NAME) !== undefined
  );
}
