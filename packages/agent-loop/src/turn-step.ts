import { randomUUID } from 'node:crypto';
import { isMcpToolName } from '@ethosagent/policy';
import type { PersonalityConfig, ToolDefinition } from '@ethosagent/types';
import type { AgentEvent, AgentLoopOptions, AgentUsage } from './api.js';
import type { ContextPlan } from './context/context-plan.js';
import { type Prompt, promptTokens } from './context/estimate.js';
import { fitContext } from './context/fit-context.js';
import { READ_RESULT } from './context/read-result.js';
import { imagePlan } from './images.js';
import type { Journal } from './journal/journal.js';
import type { StepPart, StepRecord } from './journal/records.js';
import type { AnswerPart, ModelAnswer } from './model/answer-builder.js';
import { askAgain } from './model/ask-again.js';
import type { ModelRequest } from './model/ask-model.js';
import { stepCall } from './model/call-parts.js';
import { modelMessages } from './model/messages.js';
import { isRefusal } from './model/model-error.js';
import type { RetryPlan } from './options.js';
import { answered, endRecord } from './outcome.js';
import { systemPrompt } from './system-prompt.js';
import { assertFree, offeredTools, SHORTER } from './tool-search/offered-tools.js';
import type { ToolSearchPlan } from './tool-search/tool-search-plan.js';
import { addUsage, NO_USAGE, usageOf } from './usage.js';
import { untilAborted } from './with-grace.js';

export interface TurnStepParts {
  options: AgentLoopOptions;
  journal: Journal;
  retries: RetryPlan;
  /** Absent if the whole history is sent. */
  context: ContextPlan | undefined;
  /** Absent if all tools are offered. */
  search: ToolSearchPlan | undefined;
  now: () => number;
  turn: number;
  step: number;
  signal: AbortSignal;
  /** Whether the turn is left to another process, which will ask the model again. */
  isLeft: () => boolean;
  /** How many milliseconds the turn may still take; 0 if its budget is used up. */
  remainingMs: () => number;
  /** Counts what an answer used that is in no record. */
  charge: (usage: AgentUsage) => Promise<void>;
  tell: (event: AgentEvent) => Promise<void>;
}

/** One request to the model. Its answer is recorded. */
export class TurnStep {
  readonly #parts: TurnStepParts;
  readonly #said = { text: '', hasSources: false };

  constructor(parts: TurnStepParts) {
    this.#parts = parts;
  }

  /**
   * @throws `ContextFull`, `MODEL_FAILED`; the reason of the signal; as `Journal.append` and
   * `AgentTools`
   */
  async run(): Promise<AgentUsage> {
    const { journal, step, turn, tell, signal } = this.#parts;
    const tools = await untilAborted(this.#tools(), signal);
    let prompt = await this.#fitting(tools);
    await tell({ type: 'step', step });
    const answer = await this.#ask(prompt).catch(async (error: unknown) => {
      if (!isRefusal(error) || !(await this.#leaveOutNewImages())) throw error;
      prompt = await this.#fitting(tools);
      return this.#ask(prompt);
    });
    const { definitions } = prompt;
    const usage = this.#usageOf(answer, prompt);
    const record: StepRecord = {
      kind: 'step',
      turn,
      step,
      parts: this.#stepParts(answer.parts, definitions),
      usage,
      finish: answer.finish,
      estimate: promptTokens(prompt),
      ...(answer.hasSources && { untrusted: true }),
    };
    const isLast = record.parts.every(({ type }) => type !== 'call');
    // Both records in one append, so that no crash can come between them.
    const end = isLast ? endRecord(turn, answered(record)) : undefined;
    // Nobody acts on a step with calls before one of them is recorded too.
    if (end === undefined) await journal.appendSoon(record);
    else await journal.append(record, end);
    return usage;
  }

  /**
   * Leaves out images that the model has not answered to yet. A provider refuses each request with
   * an image that it can't read, so one such image would end the session.
   *
   * @returns whether there were any
   */
  async #leaveOutNewImages(): Promise<boolean> {
    const { options, journal, turn, tell } = this.#parts;
    const calls = journal.log.callsWithNewImages();
    if (calls.length === 0 || imagePlan(options).limits === false) return false;
    await journal.append({ kind: 'images_refused', turn, calls });
    const reason = 'the provider refused the request; it gets no new images now';
    await tell({ type: 'retry', attempt: 1, delayMs: 0, reason });
    return true;
  }

  async #tools() {
    const { tools, personality: id } = this.#parts.options;
    const personality = await tools.personality(id);
    return { personality, definitions: await tools.definitions(id) };
  }

  /** The prompt, made small enough for the model's window. */
  async #fitting({
    personality,
    definitions,
  }: {
    personality: PersonalityConfig;
    definitions: readonly ToolDefinition[];
  }): Promise<Prompt> {
    const { options, journal, context: plan, search, turn, tell } = this.#parts;
    const { log } = journal;
    const { limits } = imagePlan(options);
    const images = limits === false ? false : limits.mediaTypes;
    const system = systemPrompt(options.instructions, personality);
    const prompt = (): Prompt => ({
      system,
      messages: modelMessages(log.entries, { images }),
      definitions: offeredTools(definitions, { plan: search, appended: log.appended }).offered,
    });
    if (plan === undefined) return prompt();
    let unrecorded = NO_USAGE;
    const fitted = await fitContext({
      plan,
      log,
      isTainted: journal.sources.length > 0,
      images,
      prompt,
      ask: async (request, isForced) => {
        const answer = await this.#askForSummary(request, isForced);
        unrecorded = addUsage(unrecorded, this.#usageOf(answer, request));
        return answer;
      },
      usageOf: (answer, request) => this.#usageOf(answer, request),
      write: async (record) => {
        assertFree(definitions, READ_RESULT, SHORTER);
        await journal.append({ kind: 'context', turn, ...record });
        unrecorded = NO_USAGE;
      },
    }).catch(async (error: unknown) => {
      if (unrecorded !== NO_USAGE) await this.#parts.charge(unrecorded);
      throw error;
    });
    if (fitted.change !== undefined) await tell({ type: 'context', ...fitted.change });
    return fitted.prompt;
  }

  #usageOf(answer: ModelAnswer, { system, messages }: Prompt): AgentUsage {
    const chars = () => ({
      input: system.length + JSON.stringify(messages).length,
      output: answer.chars,
    });
    return usageOf(answer.usage, chars, this.#parts.options.prices);
  }

  #request(prompt: Prompt): ModelRequest {
    const { options, retries, signal, now, context } = this.#parts;
    const { model, modelSettings: settings = {} } = options;
    return {
      ...prompt,
      model,
      settings,
      ...(context !== undefined && { context }),
      signal,
      idleMs: retries.idleMs,
      now,
    };
  }

  #askForSummary(prompt: Prompt, isForced: boolean): Promise<ModelAnswer> {
    const { retries, remainingMs } = this.#parts;
    return askAgain(
      { ...this.#request(prompt), isWithoutCalls: isForced },
      {
        retries,
        remainingMs,
        tell: async () => {},
        said: { text: '', hasSources: false },
        unused: (answer) => this.#parts.charge(this.#usageOf(answer, prompt)),
      },
    );
  }

  async #ask(prompt: Prompt): Promise<ModelAnswer> {
    const { retries, signal, remainingMs, tell, isLeft, journal, charge } = this.#parts;
    const said = this.#said;
    try {
      return await askAgain(this.#request(prompt), {
        retries,
        remainingMs,
        tell,
        said,
        unused: (answer) => charge(this.#usageOf(answer, prompt)),
      });
    } catch (error) {
      // The user has seen this text, and may refer to it in the next turn.
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
        // The host of an MCP server knows what happened to a tool of that server.
        isTool: (name) => isMcpToolName(name) || options.tools.tool(name) !== undefined,
        offered,
        spareId: () => `call-${randomUUID().replaceAll('-', '')}`,
      });
      taken.add(call.id);
      return { ...call, ...metadata };
    });
  }
}
