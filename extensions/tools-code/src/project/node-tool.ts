import { join, normalize } from 'node:path';
import { z } from 'zod';
import { ancestors, isWithin } from './file-path.js';
import type { ProjectFiles } from './project-files.js';

/** A program that is installed in a project's `node_modules`. */
export interface NodeTool {
  /** The absolute path of the script that Node runs. */
  file: string;
  version: string;
}

const manifest = z.object({
  version: z.string().default('?'),
  bin: z.union([z.string(), z.record(z.string(), z.string())]),
});

/** Finds a program by its package, in the `node_modules` of a folder or of a folder above it. */
export async function findNodeTool(
  files: ProjectFiles,
  folder: string,
  { packageName, name = packageName }: { packageName: string; name?: string },
): Promise<NodeTool | undefined> {
  for (const at of ancestors(folder)) {
    const home = join(at, 'node_modules', packageName);
    const found = manifest.safeParse(await files.json(join(home, 'package.json')));
    if (!found.success) continue;
    const { bin, version } = found.data;
    const script = typeof bin === 'string' ? bin : bin[name];
    if (script === undefined) continue;
    const file = normalize(join(home, script));
    // The attack: a link that leads out of the package and out of the reach.
    if (isWithin(file, home) && (await files.exists(file))) return { file, version };
  }
  return undefined;
}
