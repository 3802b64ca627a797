import { isSecretRef } from '@ethosagent/policy';
import { errorCodeOf } from '@ethosagent/types';
import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { givenSecrets } from '../given-secrets.js';
import { homeSecrets } from '../home-secrets.js';
import { safeLine } from '../output.js';

/** Finds the secrets that offered tools declare and that are missing or can't be used. */
export async function run({ context }: CommandInput): Promise<number> {
  const { out } = context;
  const secrets = await homeSecrets(context);
  const runtime = await context.openRuntime();
  const declared = (await runtime.reach())
    .filter(({ offered }) => offered)
    .flatMap(({ tool, grant }) =>
      givenSecrets(grant).flatMap(({ ref, source }) =>
        source === undefined ? [] : { tool, ref, source },
      ),
    );
  const rows = await Promise.all(
    declared.map(async ({ tool, ref, source }) => ({
      tool,
      ref,
      ...(source !== ref && { source }),
      state: await stateOf(source, secrets),
    })),
  );
  const isFine = rows.every(({ state }) => state === 'ok' || state === 'prefix');
  if (out.isJson) out.json({ ok: isFine, secrets: rows });
  else {
    out.table(
      rows.map(({ tool, ref, source, state }) => [
        state === 'ok' || state === 'prefix' ? out.color.green(state) : out.color.red(state),
        safeLine(source === undefined ? ref : `${ref} (value of ${source})`),
        safeLine(tool),
      ]),
    );
    if (rows.length === 0) out.note('no tool that is offered declares a secret');
  }
  return isFine ? EXIT.ok : EXIT.found;
}

async function stateOf(
  ref: string,
  secrets: { get(ref: string): Promise<string>; has(ref: string): Promise<boolean> },
): Promise<'ok' | 'missing' | 'unusable' | 'prefix'> {
  // `providers/*` does not name a single secret.
  if (!isSecretRef(ref)) return 'prefix';
  try {
    if (!(await secrets.has(ref))) return 'missing';
    await secrets.get(ref);
    return 'ok';
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return 'unusable';
  }
}
