import type { ProviderRequest, Version } from './provider-model.js';

type ProviderMessage = ProviderRequest['prompt'][number];
type UserMessage = Extract<ProviderMessage, { role: 'user' }>;
type ToolMessage = Extract<ProviderMessage, { role: 'tool' }>;
type ContentPart = Extract<ResultPart['output'], { type: 'content' }>['value'][number];
export type SystemMessage = Extract<ProviderMessage, { role: 'system' }>;
export type AssistantMessage = Extract<ProviderMessage, { role: 'assistant' }>;
export type FilePart = Extract<UserMessage['content'][number], { type: 'file' }>;
export type ResultPart = Extract<ToolMessage['content'][number], { type: 'tool-result' }>;

/** A message of the history. Version 3 of the provider's interface takes it, except for a plain text. */
export type PromptMessage =
  | AssistantMessage
  | (Omit<UserMessage, 'content'> & { content: string | UserMessage['content'] })
  | (Omit<ToolMessage, 'content'> & { content: ResultPart[] });

/** The prompt in the version of the interface that a model has. */
export function providerPrompt(
  { system, messages }: { system: string | SystemMessage; messages: readonly PromptMessage[] },
  version: Version,
): ProviderMessage[] {
  const first =
    typeof system === 'string' ? ({ role: 'system', content: system } as const) : system;
  return [
    ...(first.content === '' ? [] : [first]),
    ...messages.map((message) => providerMessage(message, version)),
  ];
}

function providerMessage(message: PromptMessage, version: Version): ProviderMessage {
  switch (message.role) {
    case 'assistant':
      return message;
    case 'user':
      return { ...message, content: userParts(message.content, version) };
    case 'tool':
      if (version === 'v3' || !message.content.some(hasParts)) return message;
      return { ...message, content: message.content.map((part) => resultPart(part, version)) };
  }
}

function userParts(
  content: string | UserMessage['content'],
  version: Version,
): UserMessage['content'] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content
    .filter((part) => part.type !== 'text' || part.text !== '')
    .map((part) => (part.type === 'file' && version === 'v4' ? filePart(part) : part));
}

function hasParts({ output }: ResultPart): boolean {
  return output.type === 'content';
}

function resultPart(part: ResultPart, version: Version): ResultPart {
  const { output } = part;
  if (output.type !== 'content') return part;
  const value = output.value.map((each) => contentPart(each, version));
  return { ...part, output: { ...output, value } };
}

function contentPart(part: ContentPart, version: Version): ContentPart {
  if (part.type !== 'image-data') return part;
  const { data, mediaType } = part;
  // The types are those of version 3.
  const other: unknown =
    version === 'v2'
      ? { type: 'media', data, mediaType }
      : filePart({ type: 'file', data, mediaType });
  return other as ContentPart;
}

/** Version 4 says of the data of a file what they are. */
function filePart(part: FilePart): FilePart {
  const other: unknown = { ...part, data: { type: 'data', data: part.data } };
  return other as FilePart;
}
