import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { homeSecrets } from '../home-secrets.js';
import { safeLine } from '../output.js';

/** Removes a secret. Exits with 1 if it did not exist. */
export async function run({ context, args: [ref = ''] }: CommandInput): Promise<number> {
  const { out } = context;
  const secrets = await homeSecrets(context);
  const removed = await secrets.has(ref);
  await secrets.delete(ref);
  if (out.isJson) out.json({ ref, removed });
  else out.line(removed ? `removed ${safeLine(ref)}` : `there is no secret ${safeLine(ref)}`);
  return removed ? EXIT.ok : EXIT.found;
}
