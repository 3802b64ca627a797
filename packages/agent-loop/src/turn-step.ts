import { randomUUID } from 'node:crypto';
import type { ToolDefinition } from '@ethosagent/types';
import type { AgentEvent, AgentLoopOptions, AgentUsage } from './api.js';
import { takesImages } from './images.js';
import type { Journal } from './journal/journal.js';
import type { StepPart, StepRecord } from './journal/records.js';
import { askAgain } from './model/ask-again.js';
import type { AnswerPart, ModelAnswer } from './model/ask-model.js';
import { stepCall } from './model/call-parts.js';
import { modelMessages } from './model/messages.js';
import type { RetryPlan } from './options.js';
import { answered, endRecord } from './outcome.js';
import { systemPrompt } from './system-prompt.js';
import { usageOf } from './usage.js';
import { untilAborted } from './with-grace.js';

export interface TurnStepParts {
  options: AgentLoopOptions;
  journal: Journal;
  retries: RetryPlan;
  now: () => number;
  turn: number;
  step: number;
  signal: AbortSignal;
  /** What was said is then said again. */
  isLeft: () => boolean;
  remainingMs: () => number;
  tell: (event: AgentEvent) => Promise<void>;
}

/** One question to the model, and its answer, written down. */
export class TurnStep {
  readonly #parts: TurnStepParts;
  readonly #said = { text: '', hasSources: false };

  constructor(parts: TurnStepParts) {
    this.#parts = parts;
  }

  /** @throws `MODEL_FAILED`; the reason of the signal; as `Journal.append` and `AgentTools` */
  async run(): Promise<AgentUsage> {
    const { options, journal, step, turn, tell, signal } = this.#parts;
    const { personality, definitions } = await untilAborted(this.#tools(), signal);
    const system = systemPrompt(options.instructions, personality);
    const messages = modelMessages(journal.log.entries, {
      images: options.toolImages ?? takesImages(options.model),
    });
    await tell({ type: 'step', step });
    const answer = await this.#ask({ system, messages, definitions });
    const usage = usageOf(
      answer.usage,
      () => ({ input: system.length + JSON.stringify(messages).length, output: answer.chars }),
      options.prices,
    );
    const record: StepRecord = {
      kind: 'step',
      turn,
      step,
      parts: this.#stepParts(answer.parts, definitions),
      usage,
      finish: answer.finish,
      ...(answer.hasSources && { untrusted: true }),
    };
    const isLast = record.parts.every(({ type }) => type !== 'call');
    // Together, so that no crash comes between the two.
    const end = isLast ? endRecord(turn, answered(record)) : undefined;
    await journal.append(record, ...(end === undefined ? [] : [end]));
    return usage;
  }

  async #tools() {
    const { tools, personality: id } = this.#parts.options;
    const personality = await tools.personality(id);
    return { personality, definitions: await tools.definitions(id) };
  }

  async #ask(
    prompt: Pick<Parameters<typeof askAgain>[0], 'system' | 'messages' | 'definitions'>,
  ): Promise<ModelAnswer> {
    const { options, retries, signal, now, remainingMs, tell, isLeft, journal } = this.#parts;
    const { model, modelSettings: settings = {} } = options;
    const said = this.#said;
    try {
      return await askAgain(
        { ...prompt, model, settings, signal, idleMs: retries.idleMs, now },
        { retries, remainingMs, tell, said },
      );
    } catch (error) {
      // What a reader has seen, the next turn may speak of.
      if (signal.aborted && !isLeft() && said.text.trim() !== '')
        await journal.append(this.#partial());
      throw error;
    }
  }

  #partial(): StepRecord {
    const { turn, step, options } = this.#parts;
    const { text, hasSources } = this.#said;
    const usage = usageOf(undefined, () => ({ input: 0, output: text.length }), options.prices);
    return {
      kind: 'step',
      turn,
      step,
      parts: [{ type: 'text', text: text.toWellFormed() }],
      usage,
      finish: 'aborted',
      ...(hasSources && { untrusted: true }),
    };
  }

  #stepParts(parts: readonly AnswerPart[], definitions: readonly ToolDefinition[]): StepPart[] {
    const { options, journal } = this.#parts;
    const { log } = journal;
    const taken = new Set<string>();
    const offered = definitions.map(({ name }) => name);
    return parts.map((part) => {
      const metadata = part.metadata === undefined ? {} : { metadata: part.metadata };
      if (part.type !== 'call') {
        return { type: part.type, text: part.text.toWellFormed(), ...metadata };
      }
      const call = stepCall(part.call, {
        isTaken: (id) => taken.has(id) || log.hasCall(id),
        // What became of the tools of an MCP server, its host knows.
        isTool: (name) => name.startsWith('mcp__') || options.tools.tool(name) !== undefined,
        offered,
        spareId: () => `call-${randomUUID().replaceAll('-', '')}`,
      });
      taken.add(call.id);
      return { ...call, ...metadata };
    });
  }
}
