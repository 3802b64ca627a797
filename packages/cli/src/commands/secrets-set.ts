import type { SecretPlace } from '@ethosagent/storage-fs';
import { usageError } from '../cli-error.js';
import { type CommandInput, hasOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { type AgentSecretPlace, homeSecrets } from '../home-secrets.js';
import { safeText } from '../output.js';
import { readSecretValue } from '../read-secret-value.js';

const PLACES: Readonly<Record<AgentSecretPlace, string>> = {
  file: 'a file of the home',
  keychain: 'the keychain of the system',
  store: 'the store of the agent',
};

/**
 * Stores a secret. Its value is typed without being shown, or comes from standard input, and never
 * from the arguments.
 */
export async function run({ context, args: [ref = ''], options }: CommandInput): Promise<number> {
  const { io, out } = context;
  const secrets = await homeSecrets(context);
  const before = await secrets.placeOf(ref);
  const asked = placeIn(options);
  if (asked !== undefined && !secrets.places.includes(asked)) {
    throw usageError(`--${asked}: this agent keeps its secrets in a store; leave the option out`);
  }
  const place = asked ?? before ?? (await secrets.newPlace());
  const value = await readSecretValue(ref, io);
  await secrets.set(ref, value, place);
  const isNew = before === undefined;
  if (out.isJson) out.json({ ref, stored: true, isNew, place });
  else {
    out.line(`${isNew ? 'stored' : 'replaced'} ${safeText(ref)}, in ${PLACES[place]}`);
  }
  return EXIT.ok;
}

function placeIn(options: CommandInput['options']): SecretPlace | undefined {
  const [inFile, inKeychain] = [hasOption(options, 'file'), hasOption(options, 'keychain')];
  if (inFile && inKeychain) throw usageError('--file and --keychain: choose one of them');
  if (inFile) return 'file';
  return inKeychain ? 'keychain' : undefined;
}
