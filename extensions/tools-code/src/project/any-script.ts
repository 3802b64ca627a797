import { join } from 'node:path';
import type { ProjectFiles } from './project-files.js';
import { anyScriptOf, type ProjectMarkers, scriptsOf } from './project-markers.js';
import type { RunCommand } from './runner.js';
import { wholeScript } from './script-command.js';
import { runInShell } from './script-run.js';

/** Returns the command that runs a script of the project, whatever the script does. */
export async function anyScript(
  files: ProjectFiles,
  root: string,
  signs: ProjectMarkers,
): Promise<RunCommand[]> {
  const manifest = await files.json(join(root, 'package.json'));
  const script = anyScriptOf(manifest, signs);
  if (script === undefined) return [];
  const text = wholeScript(scriptsOf(manifest), script);
  return [await runInShell(files, { root, script }, { text })];
}
