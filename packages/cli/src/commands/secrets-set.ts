import { EXIT } from '../cli-error.js';
import type { CommandInput } from '../command-spec.js';
import { homeSecrets } from '../home-secrets.js';
import { safeText } from '../output.js';
import { readSecretValue } from '../read-secret-value.js';

/** Stores a secret. Its value is typed unseen or comes from standard input, never from the arguments. */
export async function run({ context, args: [ref = ''] }: CommandInput): Promise<number> {
  const { io, out } = context;
  const secrets = await homeSecrets(context);
  const value = await readSecretValue(ref, io);
  const isNew = !(await secrets.has(ref));
  await secrets.set(ref, value);
  if (out.isJson) out.json({ ref, stored: true, isNew });
  else out.line(`${isNew ? 'stored' : 'replaced'} ${safeText(ref)}`);
  return EXIT.ok;
}
