import { assertOptions, callListener, type OptionNames } from '@ethosagent/policy';
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

/** The tracer and the meter to use, and the content of spans. */
export interface TelemetryOptions {
  /** The tracer of the spans. When absent, one of the global tracer provider. */
  tracer?: Tracer;
  /** The meter of the metrics. When absent, one of the global meter provider. */
  meter?: Meter;
  /**
   * Whether spans of calls contain the arguments, without the secrets that the call resolved, as
   * the audit log has them. Requires the option `auditArguments` of the runtime. `false` when
   * absent.
   */
  arguments?: boolean;
  /**
   * Whether spans of calls contain the results that the model reads. Requires the option
   * `auditResults` of the runtime. `false` when absent.
   */
  results?: boolean;
}

/** Spans and metrics of one runtime. */
export interface Telemetry {
  /**
   * The audit sink for the option `audit` of the runtime. With `audit: [telemetry.sink]`, the
   * runtime also keeps its own log. The sink makes a span `execute_tool <name>` for each call, and
   * one for each of its first 1,000 accesses. It never refuses an access.
   *
   * The span of a call is made when the call ends. Its parent is the turn of its session if
   * `traceTurn` traces that turn, or else the active span. If a framework's own span for the call
   * is active, that span gets the attributes instead. Spans of the tool itself, or of an
   * instrumented `fetch`, have the active span as their parent.
   */
  readonly sink: AuditSink;
  /**
   * Passes on the events of a turn as they come. It makes a span `invoke_agent` around them, a span
   * `chat` for each step, and puts the spans of the calls below it.
   */
  traceTurn<E extends TurnEvent>(events: AsyncIterable<E>, facts?: TurnFacts): AsyncIterable<E>;
}

const OPTIONS: OptionNames<TelemetryOptions> = {
  tracer: true,
  meter: true,
  arguments: true,
  results: true,
};

/**
 * Creates spans and metrics that follow the GenAI semantic conventions of OpenTelemetry. Attributes
 * that the conventions lack begin with `ethos.`. Without a provider, nothing is recorded.
 *
 * @param options the tracer and the meter, and whether spans contain arguments and results
 * @returns the audit sink, and a function that traces turns
 * @example
 * ```ts
 * const telemetry = createTelemetry();
 * const { loop } = await createAgent({ home, personality, model, audit: [telemetry.sink] });
 * for await (const event of telemetry.traceTurn(loop.run({ sessionId, prompt }))) show(event);
 * ```
 */
export function createTelemetry(options: TelemetryOptions = {}): Telemetry {
  assertOptions('createTelemetry', options, OPTIONS);
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
