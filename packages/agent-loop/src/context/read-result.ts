import { markUntrusted } from '@ethosagent/core';
import { isObject, takeStart } from '@ethosagent/policy';
import type { SessionStore, ToolDefinition } from '@ethosagent/types';
import { parseRecord, type ResultRecord } from '../journal/records.js';

export const READ_RESULT = 'read_result';

/** The definition of the tool for the model, used once results were cleared. */
export const READ_RESULT_DEFINITION: ToolDefinition = {
  name: READ_RESULT,
  description:
    'Shows the result of an earlier call of this session that was cleared from the history, page by page.',
  parameters: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'The id of the call.' },
      offset: {
        type: 'integer',
        minimum: 0,
        description: 'Where to begin, in characters. 0 when absent.',
      },
    },
    required: ['id'],
    additionalProperties: false,
  },
};

/** A page of a result. */
export type ResultPage =
  | { ok: true; text: string; images: NonNullable<ResultRecord['images']> }
  | { ok: false; error: string };

const MARKED = /^<untrusted source="([^"<>\n]*)" tool="([^"<>\n]*)">\n([\s\S]*)\n<\/untrusted>$/;

/**
 * Reads a page of a result from the journal of a session. What was marked as untrusted is marked
 * again.
 *
 * @param options.pageChars how many characters a page has
 * @throws as `SessionStore.messages`
 */
export async function readResult(
  input: Record<string, unknown>,
  options: { sessions: SessionStore; sessionId: string; pageChars: number },
): Promise<ResultPage> {
  const { id, offset = 0 } = input;
  if (typeof id !== 'string' || !Number.isSafeInteger(offset) || Number(offset) < 0) {
    return { ok: false, error: 'give the id of a call as `id`, and a whole number as `offset`' };
  }
  const result = await findResult(id, options);
  if (result === undefined) {
    return {
      ok: false,
      error: `this session has no result of a call ${JSON.stringify(id)}; a shortened result says in its text which id to give`,
    };
  }
  return pageOf(result, Number(offset), options.pageChars);
}

async function findResult(
  id: string,
  { sessions, sessionId }: { sessions: SessionStore; sessionId: string },
): Promise<ResultRecord | undefined> {
  let afterSequence = 0;
  for (;;) {
    const page = await sessions.messages(sessionId, { afterSequence });
    if (page.length === 0) return undefined;
    for (const { data, sequence } of page) {
      afterSequence = sequence;
      if (!isObject(data) || data.kind !== 'result' || data.call !== id) continue;
      const record = parseRecord(data);
      if (record?.kind === 'result') return record;
    }
  }
}

function pageOf({ output, images = [] }: ResultRecord, offset: number, chars: number): ResultPage {
  const [, source, tool, inner] = MARKED.exec(output) ?? [];
  const whole = inner ?? output;
  if (offset > 0 && offset >= whole.length) {
    return { ok: false, error: `the result has ${whole.length} characters; give a smaller offset` };
  }
  const page = takeStart(whole.slice(offset), chars).toWellFormed();
  const end = offset + page.length;
  const text =
    source === undefined || tool === undefined ? page : markUntrusted(page, { source, tool });
  const more = end < whole.length ? `; offset ${end} goes on` : '';
  return {
    ok: true,
    // The mark of untrusted text must come first in the result.
    text: `${text}\n[characters ${offset} to ${end} of ${whole.length}${more}]`,
    images: offset === 0 ? images : [],
  };
}
