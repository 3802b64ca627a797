import { declaredRef, secretRefMatches } from '@ethosagent/policy';
import { errorCodeOf } from '@ethosagent/types';
import type { ToolRuntime } from '@ethosagent/wiring';
import { usageError } from '../cli-error.js';
import type { CommandContext } from '../command-context.js';
import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { homeSecrets } from '../home-secrets.js';
import { safeLine } from '../output.js';
import { readSecretValue } from '../read-secret-value.js';

/** A tool whose calls may get the secret. */
interface SecretUser {
  personality: string;
  tool: string;
}

/**
 * Replaces an existing secret, and shows which tools use it. Exits with 1 if these can't be found.
 */
export async function run({ context, args: [ref = ''] }: CommandInput): Promise<number> {
  const { io, out } = context;
  const secrets = await homeSecrets(context);
  if (!(await secrets.has(ref))) {
    throw usageError(`there is no secret ${ref}; store it with "ethosagent secrets set ${ref}"`);
  }
  const value = await readSecretValue(ref, io);
  if (value === (await secrets.get(ref).catch(() => undefined))) {
    throw usageError('that is the value which it has, so nothing was replaced');
  }
  await secrets.set(ref, value);
  const { users, problems } = await usersOf(ref, context);
  if (out.isJson) out.json({ ref, replaced: true, users, problems });
  else {
    out.line(`replaced ${safeLine(ref)}`);
    out.table(
      users.map(({ personality, tool }) => ['used by', safeLine(tool), safeLine(personality)]),
    );
    for (const problem of problems)
      out.note(`${out.color.red('error')}: ${safeLine(problem, 500)}`);
    if (users.length + problems.length === 0) out.note('no tool uses it');
    out.note('The next calls use the new value. Revoke the old one where it was issued.');
  }
  return problems.length === 0 ? EXIT.ok : EXIT.found;
}

/** The users of a secret among the tools that personalities offer. */
async function usersOf(
  ref: string,
  context: CommandContext,
): Promise<{ users: SecretUser[]; problems: string[] }> {
  const users: SecretUser[] = [];
  const problems: string[] = [];
  let runtime: ToolRuntime | undefined;
  for (const personality of context.personalityIds()) {
    try {
      if (runtime === undefined) runtime = await context.openRuntime({ personality });
      else await runtime.switchPersonality(personality);
      for (const { tool, grant, offered } of await runtime.reach()) {
        const uses =
          offered && grant.secrets?.some((each) => secretRefMatches(declaredRef(each), ref));
        if (uses === true) users.push({ personality, tool });
      }
    } catch (error) {
      if (errorCodeOf(error) === undefined) throw error;
      problems.push(`${personality}: its tools can not be read, and may use it`);
    }
  }
  return { users, problems };
}
