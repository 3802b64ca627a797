import {
  type Context,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { ETHOS, GEN_AI } from './conventions.js';
import type { Instruments, StepUsage, TurnFacts } from './instruments.js';

/**
 * The fields of an agent's events that `traceTurn` reads. The events of `AgentLoop` have them.
 * Events of other types pass unchanged.
 */
export interface TurnEvent {
  type: string;
  /** The session, in an event `start`. */
  sessionId?: string;
  /** The number of the step in an event `step`; its tokens and cost in an event `usage`. */
  step?: number | (StepUsage & { cachedInputTokens: number });
  /** The error, in an event `error`. */
  error?: { code: string };
  /** How the turn ended, in an event `done`, like `steps` and `calls`. */
  end?: string;
  /** The number of steps, in an event `done`. */
  steps?: number;
  /** The number of calls, in an event `done`. */
  calls?: number;
}

interface TraceParts {
  tracer: Tracer;
  instruments: Instruments;
  turns: Map<string, Context>;
  facts: TurnFacts;
}

/** Passes on the events of a turn as they come, and creates its spans. */
export async function* traceTurn<E extends TurnEvent>(
  events: AsyncIterable<E>,
  { tracer, instruments, turns, facts }: TraceParts,
): AsyncGenerator<E, void, undefined> {
  const around = context.active();
  const { agent, model, provider } = facts;
  const named = (operation: string, name?: string) =>
    name === undefined ? operation : `${operation} ${name}`;
  let turn: { span: Span; within: Context; sessionId: string } | undefined;
  let step: { span: Span; endedAt?: number } | undefined;
  const endStep = () => {
    step?.span.end(step.endedAt);
    step = undefined;
  };
  try {
    for await (const event of events) {
      switch (event.type) {
        case 'start': {
          const { sessionId } = event;
          if (sessionId === undefined) break;
          const span = tracer.startSpan(
            named('invoke_agent', agent),
            {
              kind: SpanKind.INTERNAL,
              attributes: {
                [GEN_AI.operation]: 'invoke_agent',
                [GEN_AI.agentName]: agent,
                [GEN_AI.conversation]: sessionId,
                [GEN_AI.provider]: provider,
              },
            },
            around,
          );
          turn = { span, within: trace.setSpan(around, span), sessionId };
          turns.set(sessionId, turn.within);
          break;
        }
        case 'step': {
          endStep();
          const attributes = {
            [GEN_AI.operation]: 'chat',
            [GEN_AI.provider]: provider,
            [GEN_AI.model]: model,
            [GEN_AI.conversation]: turn?.sessionId,
          };
          const options = { kind: SpanKind.CLIENT, attributes };
          step = { span: tracer.startSpan(named('chat', model), options, turn?.within ?? around) };
          break;
        }
        case 'tool_start':
          // The model has answered. Its usage is reported only when the tools are done.
          if (step !== undefined) step.endedAt ??= Date.now();
          break;
        case 'usage': {
          if (typeof event.step !== 'object') break;
          const { inputTokens, outputTokens, cachedInputTokens } = event.step;
          step?.span.setAttributes({
            [GEN_AI.inputTokens]: inputTokens,
            [GEN_AI.outputTokens]: outputTokens,
            [GEN_AI.cachedTokens]: cachedInputTokens,
          });
          instruments.usage(event.step, facts);
          endStep();
          break;
        }
        case 'error':
          turn?.span.setAttributes({ [GEN_AI.errorType]: event.error?.code });
          turn?.span.setStatus({ code: SpanStatusCode.ERROR });
          break;
        case 'done':
          turn?.span.setAttributes({
            [ETHOS.turnEnd]: event.end,
            [ETHOS.steps]: event.steps,
            [ETHOS.calls]: event.calls,
          });
          break;
        default:
      }
      yield event;
    }
  } finally {
    endStep();
    if (turn !== undefined) {
      turn.span.end();
      if (turns.get(turn.sessionId) === turn.within) turns.delete(turn.sessionId);
    }
  }
}
