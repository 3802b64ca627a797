import type { HomeSecrets, SecretPlace } from '@ethosagent/storage-fs';
import { usageError } from '../cli-error.js';
import { type CommandInput, hasOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { homeSecrets } from '../home-secrets.js';
import { safeText } from '../output.js';
import { readSecretValue } from '../read-secret-value.js';

/** Stores a secret. Its value is typed unseen or comes from standard input, never from the arguments. */
export async function run({ context, args: [ref = ''], options }: CommandInput): Promise<number> {
  const { io, out } = context;
  const secrets = await homeSecrets(context);
  const before = await secrets.placeOf(ref);
  const place = placeIn(options) ?? before ?? (await newPlace(secrets));
  const value = await readSecretValue(ref, io);
  await secrets.set(ref, value, place);
  const isNew = before === undefined;
  if (out.isJson) out.json({ ref, stored: true, isNew, place });
  else {
    const where = place === 'file' ? 'a file of the home' : 'the keychain of the system';
    out.line(`${isNew ? 'stored' : 'replaced'} ${safeText(ref)}, in ${where}`);
  }
  return EXIT.ok;
}

function placeIn(options: CommandInput['options']): SecretPlace | undefined {
  const [inFile, inKeychain] = [hasOption(options, 'file'), hasOption(options, 'keychain')];
  if (inFile && inKeychain) throw usageError('--file and --keychain: choose one of them');
  if (inFile) return 'file';
  return inKeychain ? 'keychain' : undefined;
}

async function newPlace(secrets: HomeSecrets): Promise<SecretPlace> {
  return (await secrets.hasKeychain()) ? 'keychain' : 'file';
}
