import type { AttachmentInfo } from '@ethosagent/types';
import type { ModelMessage } from 'ai';
import type { ResultImage, ResultRecord, StepPart, UserRecord } from '../journal/records.js';
import type { LoggedEntry, LoggedStep } from '../journal/session-log.js';

type AssistantPart = Exclude<
  Extract<ModelMessage, { role: 'assistant' }>['content'],
  string
>[number];
type ToolPart = Extract<
  Extract<ModelMessage, { role: 'tool' }>['content'][number],
  { type: 'tool-result' }
>;

/** Images of tool results that the model is shown; of more, the last ones. */
const MAX_IMAGES = 8;

/** The history as the model reads it. Every call has exactly one answer, in the order of the calls. */
export function modelMessages(
  entries: readonly LoggedEntry[],
  options: { images: boolean },
): ModelMessage[] {
  const shown = options.images ? lastImages(entries) : new Set<ResultImage>();
  return entries.flatMap((entry) =>
    'kind' in entry ? [userMessage(entry)] : stepMessages(entry, shown),
  );
}

function lastImages(entries: readonly LoggedEntry[]): Set<ResultImage> {
  const images = entries.flatMap((entry) =>
    'kind' in entry ? [] : entry.calls.flatMap(({ result }) => result?.images ?? []),
  );
  return new Set(images.slice(-MAX_IMAGES));
}

function userMessage({ prompt, attachments = [] }: UserRecord): ModelMessage {
  const files = attachments.map(describe);
  if (files.length === 0) return { role: 'user', content: prompt };
  return { role: 'user', content: `${prompt}\n\nAttached files:\n${files.join('\n')}` };
}

function describe({ id, name, mediaType, sizeBytes }: AttachmentInfo): string {
  return `- ${JSON.stringify({ id, name, mediaType, sizeBytes })}`;
}

function stepMessages({ record, calls }: LoggedStep, shown: ReadonlySet<ResultImage>) {
  const content = record.parts.flatMap(assistantPart);
  const messages: ModelMessage[] = [];
  // A provider refuses an empty message, and one of nothing but reasoning.
  if (content.some(({ type }) => type !== 'reasoning'))
    messages.push({ role: 'assistant', content });
  const answers = calls.flatMap(({ call, result }): ToolPart[] =>
    result === undefined
      ? []
      : [
          {
            type: 'tool-result',
            toolCallId: call.id,
            toolName: call.name,
            output: outputOf(result, shown),
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
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...options }];
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

function outputOf(
  { output, ok, images = [] }: ResultRecord,
  shown: ReadonlySet<ResultImage>,
): ToolPart['output'] {
  if (!ok) return { type: 'error-text', value: output };
  const visible = images.filter((image) => shown.has(image));
  if (visible.length === 0) return { type: 'text', value: output };
  return {
    type: 'content',
    value: [
      { type: 'text', text: output },
      ...visible.map(({ data, mediaType }) => ({ type: 'image-data' as const, data, mediaType })),
    ],
  };
}
