import type { GrantScope } from '@ethosagent/types';
import { usageError } from '../cli-error.js';
import { type CommandInput, textOption } from '../command-spec.js';
import { decideCall } from '../decide-call.js';
import { GRANT_SCOPES } from '../grant-scopes.js';
import { namedCall } from '../named-call.js';
import { parseArgs } from '../parse-args.js';

/** Approves a waiting call, with other arguments if they are given. */
export async function run(input: CommandInput): Promise<number> {
  const args = textOption(input.options, 'args');
  const always = scopeOf(textOption(input.options, 'always'));
  const reason = textOption(input.options, 'reason');
  const said = {
    approved: true,
    ...(args !== undefined && { args: parseArgs(args) }),
    ...(always !== undefined && { always }),
    ...(reason !== undefined && { reason }),
  };
  return decideCall(await namedCall(input), said, input);
}

function scopeOf(text: string | undefined): GrantScope | undefined {
  const scope = GRANT_SCOPES.find((each) => each === text);
  if (text === undefined || scope !== undefined) return scope;
  throw usageError(`--always: ${text} is not one of ${GRANT_SCOPES.join(', ')}`);
}
