import { errorCodeOf, type GrantScope } from '@ethosagent/types';
import type { ToolRuntime } from '@ethosagent/wiring';

/** The scopes for which a person may approve for longer than one call. */
export const GRANT_SCOPES: readonly GrantScope[] = ['session', 'arguments', 'tool'];

/** The scopes that the file of a personality allows; empty if it can't be read. */
export async function grantScopes(
  runtime: Pick<ToolRuntime, 'personality'>,
  personalityId: string,
): Promise<GrantScope[]> {
  try {
    const { safety } = await runtime.personality(personalityId);
    const allowed = safety?.approvals?.grants ?? GRANT_SCOPES;
    return GRANT_SCOPES.filter((scope) => allowed.includes(scope));
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return [];
  }
}
