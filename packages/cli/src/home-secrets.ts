import { createHomeSecrets, type HomeSecrets } from '@ethosagent/storage-fs';
import { usageError } from './cli-error.js';
import type { CommandContext } from './command-context.js';

/** The secrets of the home. @throws `CONFIG_INVALID` where the agent keeps its secrets elsewhere */
export async function homeSecrets(context: CommandContext): Promise<HomeSecrets> {
  const { secrets, stores } = await context.config();
  if (secrets !== undefined || stores?.secrets !== undefined) {
    throw usageError(
      'ethos.config keeps secrets in a store of its own; use what manages that store',
    );
  }
  return createHomeSecrets({ home: context.home, env: context.io.env });
}
