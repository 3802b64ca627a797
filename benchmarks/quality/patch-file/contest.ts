import { DefaultToolRegistry } from '@ethosagent/core';
import { InMemoryStorage } from '@ethosagent/storage-fs';
import { patchFileTool } from '@ethosagent/tools-file';
import type { Edit } from './corpus.js';
import { aiderMethod, type Editor, exactSearchAndReplace } from './peers.js';
import { PERTURBATIONS } from './perturb.js';

/** How often a way of editing made the edit that was meant, another one, or none. */
export interface Tally {
  right: number;
  wrong: number;
}

/** One perturbation, and how each way of editing did. */
export interface Row {
  name: string;
  /** Whether the search text is as in the file, and the replacement alone is damaged. */
  replaceOnly: boolean;
  tried: number;
  tallies: Record<ContenderName, Tally>;
}

type ContenderName = 'patch_file' | "Aider's method" | 'exact search-and-replace';
type Contender = (...args: Parameters<Editor>) => string | undefined | Promise<string | undefined>;

/** An edit that `patch_file` made otherwise than it was meant. */
export interface WrongEdit {
  perturbation: string;
  edit: Edit;
  got: string;
}

/** Tries every perturbation on every edit, with each way of editing. */
export async function contest(
  edits: readonly Edit[],
): Promise<{ rows: Row[]; wrong: WrongEdit[] }> {
  const contenders: Record<ContenderName, Contender> = {
    patch_file: patchFile(),
    "Aider's method": aiderMethod,
    'exact search-and-replace': exactSearchAndReplace,
  };
  const names = Object.keys(contenders) as ContenderName[];
  const rows: Row[] = [];
  const wrong: WrongEdit[] = [];
  for (const { name, replaceOnly = false, apply } of PERTURBATIONS) {
    const none = (): Tally => ({ right: 0, wrong: 0 });
    const tallies = {
      patch_file: none(),
      "Aider's method": none(),
      'exact search-and-replace': none(),
    };
    const row: Row = { name, replaceOnly, tried: 0, tallies };
    for (const original of edits) {
      const edit = apply(original);
      if (edit === undefined || edit.search === edit.replace) continue;
      row.tried += 1;
      for (const contender of names) {
        const got = await contenders[contender](edit.before, edit.search, edit.replace);
        if (got === undefined) continue;
        tallies[contender][got === edit.after ? 'right' : 'wrong'] += 1;
        if (got !== edit.after && contender === 'patch_file') {
          wrong.push({ perturbation: name, edit, got });
        }
      }
    }
    rows.push(row);
  }
  return { rows, wrong };
}

/** The tool as an agent calls it: through a registry, on a storage. */
export function patchFile(): Contender {
  const storage = new InMemoryStorage();
  const reach = { read: ['/project'], write: ['/project'] };
  const registry = new DefaultToolRegistry({ storage, personalityFsReach: reach });
  registry.registerAll([patchFileTool]);
  const path = '/project/file';
  return async (text, search, replace) => {
    await storage.write(path, text);
    const args = { path, hunks: [{ search, replace }] };
    const [answer] = await registry.executeParallel(
      [{ toolCallId: 'c', name: 'patch_file', args }],
      {
        sessionId: 's',
        sessionKey: 'benchmark',
        platform: 'cli',
        workingDir: '/project',
        currentTurn: 1,
        messageCount: 1,
        abortSignal: new AbortController().signal,
        emit: () => {},
      },
    );
    const after = (await storage.read(path)) ?? undefined;
    if (answer?.result.ok === true) return after;
    if (after !== text) throw new Error('patch_file refused a hunk, and changed the file');
    return undefined;
  };
}
