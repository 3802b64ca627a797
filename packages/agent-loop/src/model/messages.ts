import { takeStart, withoutHidden } from '@ethosagent/policy';
import type { AttachmentInfo } from '@ethosagent/types';
import { headTexts } from '../context/head-message.js';
import type { ResultRecord, StepPart, UserRecord } from '../journal/records.js';
import type { LoggedEntry, LoggedStep } from '../journal/session-log.js';
import type { AssistantMessage, PromptMessage, ResultPart } from './provider-prompt.js';

type AssistantPart = AssistantMessage['content'][number];

/** The media types of images that a model accepts in tool results; `false` for none. */
export type TakenImages = readonly string[] | false;

/**
 * The history as the model reads it. Every call has exactly one answer, in the order of the calls.
 */
export function modelMessages(
  entries: readonly LoggedEntry[],
  options: { images: TakenImages },
): PromptMessage[] {
  const [first, second] = entries;
  if (first !== undefined && 'prompts' in first) {
    // Combined with the user's own message: some providers refuse two user messages in a row.
    const isAsked = second !== undefined && 'kind' in second;
    const texts = [...headTexts(first, promptText), ...(isAsked ? [promptText(second)] : [])];
    return [
      { role: 'user', content: texts.map((text) => ({ type: 'text', text })) },
      ...plainMessages(entries.slice(isAsked ? 2 : 1), options),
    ];
  }
  return plainMessages(entries, options);
}

function plainMessages(
  entries: readonly LoggedEntry[],
  options: { images: TakenImages },
): PromptMessage[] {
  return entries.flatMap((entry): PromptMessage[] => {
    if ('prompts' in entry) return [];
    return 'kind' in entry
      ? [{ role: 'user', content: promptText(entry) }]
      : stepMessages(entry, options);
  });
}

function promptText({ prompt, attachments = [] }: UserRecord): string {
  const files = attachments.map(describe);
  if (files.length === 0) return prompt;
  const list = `Attached files:\n${files.join('\n')}`;
  return prompt.trim() === '' ? list : `${prompt}\n\n${list}`;
}

function describe({ id, name, mediaType, sizeBytes }: AttachmentInfo): string {
  return `- ${JSON.stringify({ id, name: plain(name), mediaType: plain(mediaType), sizeBytes })}`;
}

const MAX_NAME_CHARS = 200;

/**
 * A name that somebody else may have chosen. Characters that could form a mark are replaced, and it
 * is shortened.
 */
function plain(name: string): string {
  const clean = withoutHidden(name).normalize('NFKC');
  return takeStart(clean.replaceAll(/[<>[\]|]/g, '_'), MAX_NAME_CHARS);
}

/** The messages of a step, and all that they were made from. */
interface Written {
  images: TakenImages;
  record: LoggedStep['record'];
  /** The result of each call, and its images: those of an old result are dropped in place. */
  results: readonly (readonly [result: unknown, images: unknown])[];
  messages: PromptMessage[];
}

/**
 * Each request has the whole history, of which only the end is new. So the messages of a step are
 * made once, and again after a result came, was cleared, or lost an image.
 */
const written = new WeakMap<LoggedStep, Written>();

function stepMessages(step: LoggedStep, options: { images: TakenImages }): PromptMessage[] {
  const before = written.get(step);
  if (before !== undefined && isCurrent(before, step, options)) return before.messages;
  const messages = writeStep(step, options);
  written.set(step, {
    images: options.images,
    record: step.record,
    results: step.calls.map(({ result }) => [result, result?.images]),
    messages,
  });
  return messages;
}

function isCurrent(
  { images, record, results }: Written,
  step: LoggedStep,
  options: { images: TakenImages },
): boolean {
  if (images !== options.images || record !== step.record) return false;
  return results.every(([result, shown], index) => {
    const now = step.calls[index]?.result;
    return now === result && now?.images === shown;
  });
}

function writeStep({ record, calls }: LoggedStep, options: { images: TakenImages }) {
  const content = record.parts.flatMap(assistantPart);
  const messages: PromptMessage[] = [];
  // Providers refuse an empty message, and one that contains only reasoning.
  if (content.some(({ type }) => type !== 'reasoning'))
    messages.push({ role: 'assistant', content });
  const answers = calls.flatMap(({ call, result }): ResultPart[] =>
    result === undefined
      ? []
      : [
          {
            type: 'tool-result',
            toolCallId: call.id,
            toolName: call.name,
            output: outputOf(result, options),
          },
        ],
  );
  if (answers.length > 0) messages.push({ role: 'tool', content: answers });
  return messages;
}

function assistantPart(part: StepPart): AssistantPart[] {
  const options = part.metadata === undefined ? {} : { providerOptions: part.metadata };
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text, ...options }];
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...options }];
    case 'call':
      return [
        {
          type: 'tool-call',
          toolCallId: part.id,
          toolName: part.name,
          input: part.input,
          ...options,
        },
      ];
  }
}

/** Another model, which the session used before, may have been shown the images. */
const UNSEEN = '[images of this result are left out: this model does not take them]';

function outputOf(
  { output, ok, images = [], note = '' }: ResultRecord,
  options: { images: TakenImages },
): ResultPart['output'] {
  if (!ok) return { type: 'error-text', value: output };
  const taken = options.images || [];
  const visible = images.filter(({ mediaType }) => taken.includes(mediaType));
  // Some providers refuse an empty text.
  const said = output.trim() === '' ? '(empty)' : output;
  const unseen = visible.length < images.length ? UNSEEN : '';
  const text = [said, note, unseen].filter((line) => line !== '').join('\n');
  if (visible.length === 0) return { type: 'text', value: text };
  return {
    type: 'content',
    value: [
      { type: 'text', text },
      ...visible.map(({ data, mediaType }) => ({ type: 'image-data' as const, data, mediaType })),
    ],
  };
}
