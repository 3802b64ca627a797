import { cleanLine, cleanMcpSchema, cleanText, depthOf } from '@ethosagent/policy';
import {
  type CreateMessageRequest,
  type ElicitRequest,
  type ElicitResult,
  ErrorCode,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { MAX_UNASKED_CHARS } from './limits.js';

const MAX_SAMPLED_MESSAGES = 100;
const MAX_SYSTEM_CHARS = 20_000;
const MAX_SAMPLED_TOKENS = 8_192;
const MAX_ASKED_CHARS = 2_000;
const MAX_FIELDS = 30;
const MAX_FORM_CHARS = 16_000;
const MAX_ANSWER_CHARS = 10_000;

type Sampling = CreateMessageRequest['params'];
type Elicitation = ElicitRequest['params'];

/**
 * Reads what a server wants to ask a model, and returns it in the form that the host gets: without
 * context of other servers, without tools, and within bounds.
 *
 * @throws `McpError` when the request is refused; the server gets this error
 */
export function readSampling(params: Sampling): Sampling {
  const { messages, systemPrompt, maxTokens } = params;
  if (params.tools !== undefined || params.toolChoice !== undefined) {
    throw refused('no tools are given to a model for a server');
  }
  if (messages.length > MAX_SAMPLED_MESSAGES || JSON.stringify(messages).length > MAX_UNASKED_CHARS)
    throw refused('the messages are too many, or too long');
  // includeContext is left out: it would show what the user and other servers said.
  return {
    messages: messages.map(({ role, content }) => ({ role, content: cleaned(content) })),
    maxTokens: Math.max(1, Math.min(maxTokens, MAX_SAMPLED_TOKENS)),
    ...(systemPrompt !== undefined && { systemPrompt: cleanText(systemPrompt, MAX_SYSTEM_CHARS) }),
    ...(params.temperature !== undefined && { temperature: params.temperature }),
    ...(params.stopSequences !== undefined && { stopSequences: params.stopSequences.slice(0, 8) }),
    ...(params.modelPreferences !== undefined && { modelPreferences: params.modelPreferences }),
  };
}

type Content = Sampling['messages'][number]['content'];

function cleaned(content: Content): Content {
  const clean = <T extends { type: string }>(part: T): T =>
    'text' in part && typeof part.text === 'string'
      ? { ...part, text: cleanText(part.text, MAX_UNASKED_CHARS) }
      : part;
  return Array.isArray(content) ? content.map(clean) : clean(content);
}

/** Matches names of secrets. A form from a server must not ask for them. */
const SECRET =
  /pass\s?(?:word|phrase|code|wd)|\bpin\b|secret|credential|token|api[\s_-]?key|private[\s_-]?key|access[\s_-]?key|seed[\s_-]?phrase|mnemonic|\bcvv\b|\bcvc\b|card[\s_-]?number|\bssn\b|one[\s_-]?time|\botp\b|2fa|\bmfa\b/i;

/** Matches words that may name a secret, or something else. */
const KEY_OR_CODE = /\b(?:key|code)s?\d*\b/i;

/** Matches keys and codes that are no secrets. */
const HARMLESS =
  /\b(?:(?:post|postal|zip|country|area|region|language|locale|currency|colou?r|airport|promo|discount|product|item|error|exit|status|source|bar)[\s-]?codes?|(?:issue|project|primary|foreign|sort|partition|object)[\s-]?keys?|code[\s-](?:review|style|base|block|snippet|coverage|comment)s?|key[\s-](?:point|result|feature|fact|idea|metric|date|topic|figure|takeaway)s?)\b/gi;

/**
 * Reads what a server wants to ask the user, and returns it in the form that the host gets: a form
 * of a few plain fields that does not ask for a secret.
 *
 * @throws `McpError` when the request is refused; the server gets this error
 */
export function readElicitation(params: Elicitation): Elicitation {
  if (params.mode === 'url') throw refused('users are not sent to addresses of servers');
  const { message, requestedSchema } = params;
  if (depthOf(requestedSchema, 6) > 6 || JSON.stringify(requestedSchema).length > MAX_FORM_CHARS) {
    throw refused('the form is too large');
  }
  const fields = Object.entries(requestedSchema.properties);
  if (fields.length > MAX_FIELDS) throw refused(`the form has more than ${MAX_FIELDS} fields`);
  for (const [name, field] of fields) {
    if (!/^[\w .-]{1,64}$/.test(name) || name === '__proto__') {
      throw refused('a field of the form has an invalid name');
    }
    if (asksForSecret(name, field)) throw refused(`${name} asks for a secret, and forms may not`);
  }
  if (
    namesSecret(
      message,
      fields.some(([, field]) => isFree(field)),
    )
  ) {
    throw refused('the message asks for a secret, and forms may not');
  }
  const schema = cleanMcpSchema(requestedSchema);
  return {
    ...params,
    message: cleanText(message, MAX_ASKED_CHARS),
    requestedSchema: { ...requestedSchema, ...schema },
  };
}

function asksForSecret(name: string, field: object): boolean {
  return [name, ...textsOf(field)].some((text) => namesSecret(text, isFree(field)));
}

/** Whether the user can answer what they like. A choice or a tick can be no secret. */
function isFree(field: object): boolean {
  const { type, enum: choices, oneOf }: { type?: unknown; enum?: unknown; oneOf?: unknown } = field;
  return type !== 'boolean' && type !== 'array' && choices === undefined && oneOf === undefined;
}

/** Returns all texts of a field, also those of its choices. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

/** @param free whether the answer is free, so that a key or a code may be asked for */
function namesSecret(text: string, free: boolean): boolean {
  const words = normal(text);
  return SECRET.test(words) || (free && KEY_OR_CODE.test(words.replaceAll(HARMLESS, ' ')));
}

/**
 * Returns a text without invisible characters, and with the words of camelCase and snake_case
 * separated.
 */
function normal(text: string): string {
  return cleanLine(text.normalize('NFKC'), MAX_FORM_CHARS)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .replaceAll('_', ' ');
}

/** Returns the part of an answer that the server gets: only the fields that it asked for. */
export function answerTo(params: Elicitation, { action, content }: ElicitResult): ElicitResult {
  if (action !== 'accept' || content === undefined || params.mode === 'url') return { action };
  const asked = Object.keys(params.requestedSchema.properties);
  const kept = Object.entries(content).filter(
    ([key, value]) => asked.includes(key) && JSON.stringify(value).length <= MAX_ANSWER_CHARS,
  );
  return { action, content: Object.fromEntries(kept) };
}

function refused(why: string): McpError {
  return new McpError(ErrorCode.InvalidParams, why);
}
