import { join } from 'node:path';
import { createFileSecrets, type FileSecrets } from '@ethosagent/storage-fs';
import { usageError } from './cli-error.js';
import type { CommandContext } from './command-context.js';

/** The secrets of the home. @throws `CONFIG_INVALID` where the agent keeps its secrets elsewhere */
export async function homeSecrets(context: CommandContext): Promise<FileSecrets> {
  const { secrets, stores } = await context.config();
  if (secrets !== undefined || stores?.secrets !== undefined) {
    throw usageError(
      'ethos.config keeps secrets in a store of its own; use what manages that store',
    );
  }
  return createFileSecrets({ dir: join(context.home, 'secrets') });
}
