import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import { type ProjectFiles, partOf } from './project-files.js';
import { coversFolder } from './workspace-pattern.js';

const patterns = z.array(z.string());

/** How many patterns of one file count, the first ones. */
const MAX_PATTERNS = 1_000;

/** Whether a folder is a package of its own: its `package.json` has a name, or scripts. */
export async function isPackage(files: ProjectFiles, folder: string): Promise<boolean> {
  const manifest = await files.json(join(folder, 'package.json'));
  return typeof manifest?.name === 'string' || manifest?.scripts !== undefined;
}

/** Whether a folder is the root of a workspace that a package below it belongs to. */
export async function isWorkspaceOf(
  files: ProjectFiles,
  folder: string,
  member: string,
): Promise<boolean> {
  const below = relative(folder, member).split(sep).join('/');
  const manifest = await files.json(join(folder, 'package.json'));
  const { workspaces } = manifest ?? {};
  const given = [
    workspaces,
    partOf(workspaces)?.packages,
    (await files.yaml(join(folder, 'pnpm-workspace.yaml')))?.packages,
    (await files.json(join(folder, 'lerna.json')))?.packages,
  ].flatMap((value) => patterns.safeParse(value).data?.slice(0, MAX_PATTERNS) ?? []);
  const wanted = given.filter((pattern) => !pattern.startsWith('!'));
  const left = given.filter((pattern) => pattern.startsWith('!')).map((each) => each.slice(1));
  const covers = (pattern: string) => coversFolder(pattern, below);
  return wanted.some(covers) && !left.some(covers);
}
