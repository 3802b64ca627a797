import { EXIT } from '../cli-error.js';
import type { CommandInput } from '../command-spec.js';
import { homeSecrets } from '../home-secrets.js';
import { safeLine } from '../output.js';

/** Lists the names of the secrets of the home, never their values. */
export async function run({ context }: CommandInput): Promise<number> {
  const { out } = context;
  const refs = await (await homeSecrets(context)).list();
  if (out.isJson) out.json(refs);
  else for (const ref of refs) out.line(safeLine(ref));
  return EXIT.ok;
}
