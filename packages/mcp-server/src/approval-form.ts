import type { ApprovalDecision, ApprovalRequest } from '@ethosagent/core';
import {
  canonicalJson,
  showControls,
  showHidden,
  showInvisible,
  takeStart,
} from '@ethosagent/policy';
import type { GrantScope } from '@ethosagent/types';
import type {
  ElicitRequestFormParams,
  PrimitiveSchemaDefinition,
} from '@modelcontextprotocol/sdk/types.js';

/** How many characters of the arguments a form shows. */
const MAX_SHOWN_CHARS = 20_000;

const GRANTS: Record<GrantScope, string> = {
  arguments: 'Do not ask again for these arguments',
  session: 'Do not ask again in this session',
  tool: 'Do not ask again for this tool',
};

/**
 * Builds the question for the user of a client.
 *
 * @param scopes the grants that the personality allows a person to give
 * @param problem why the last answer was invalid
 */
export function approvalForm(
  { toolName, args, reason }: ApprovalRequest,
  scopes: readonly GrantScope[],
  problem?: string,
): ElicitRequestFormParams {
  const text = JSON.stringify(args ?? null, null, 2);
  const isWhole = text.length <= MAX_SHOWN_CHARS;
  const properties: Record<string, PrimitiveSchemaDefinition> = {
    approve: { type: 'boolean', title: `Run ${toolName}?`, default: false },
    ...(scopes.length > 0 && {
      always: {
        type: 'string' as const,
        title: 'Next time',
        enum: ['ask', ...scopes],
        enumNames: ['Ask again', ...scopes.map((scope) => GRANTS[scope])],
        default: 'ask',
      },
    }),
    ...(isWhole && {
      arguments: {
        type: 'string' as const,
        title: 'Arguments',
        description: 'JSON. Change them to run the call with others.',
        default: text,
      },
    }),
    reason: {
      type: 'string',
      title: 'Reason',
      description: 'What the model is told after a no.',
    },
  };
  const shown = isWhole ? text : takeStart(text, MAX_SHOWN_CHARS);
  const message = [
    ...(problem === undefined ? [] : [problem]),
    `${toolName} needs approval: ${showHidden(reason)}.`,
    'It would run with these arguments:',
    showControls(showInvisible(shown)),
    ...(isWhole ? [] : [`[cut: the arguments have ${text.length} characters]`]),
  ].join('\n');
  return {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties, required: ['approve'] },
  };
}

/** The decision in a filled form, or what is wrong with it. */
export function readApprovalForm(
  content: Readonly<Record<string, unknown>>,
  { args: proposed }: Pick<ApprovalRequest, 'args'>,
  by: string,
): Exclude<ApprovalDecision, boolean> | { problem: string } {
  const { approve, always, arguments: text, reason } = content;
  const said = typeof reason === 'string' && reason !== '' ? { reason, by } : { by };
  if (approve !== true) return { approved: false, ...said };
  const scope = Object.keys(GRANTS).find((each): each is GrantScope => each === always);
  const granted = scope === undefined ? {} : { always: scope };
  if (typeof text !== 'string' || text.trim() === '')
    return { approved: true, ...granted, ...said };
  try {
    const args: unknown = JSON.parse(text);
    const isEdited = canonicalJson(args) !== canonicalJson(proposed ?? null);
    return { approved: true, ...granted, ...said, ...(isEdited && { args }) };
  } catch {
    return { problem: 'The arguments are not JSON. Nothing has run; answer again.' };
  }
}
