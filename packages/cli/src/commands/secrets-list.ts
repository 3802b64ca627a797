import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { homeSecrets } from '../home-secrets.js';
import { safeLine } from '../output.js';

/** Lists the names of the home's secrets and their places, never their values. */
export async function run({ context }: CommandInput): Promise<number> {
  const { out } = context;
  const store = await homeSecrets(context);
  const refs = await store.list();
  const secrets = await Promise.all(
    refs.map(async (ref) => ({ ref, place: (await store.placeOf(ref)) ?? 'file' })),
  );
  if (out.isJson) out.json(secrets);
  else {
    out.table(secrets.map(({ ref, place }) => [safeLine(ref), place]));
    if (refs.length === 0)
      out.note('there are no secrets; "ethosagent secrets set REF" stores one');
  }
  return EXIT.ok;
}
