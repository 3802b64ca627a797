import { join } from 'node:path';
import { isPlace, scriptToolCommand } from '../project/own-command.js';
import type { ProjectFiles } from '../project/project-files.js';
import { partOf } from '../project/project-files.js';
import type { Runner } from '../project/runner.js';
import { findProgram, scriptCommand } from '../project/script-command.js';
import { runPlainCommand } from '../project/script-run.js';
import type { Word } from '../project/script-words.js';
import type { TestReport } from '../report.js';
import { junitTests, unloadedFile } from './junit-report.js';
import { fileParser, intoFile } from './report-file.js';

const isPath = isPlace(
  new Set(['-c', '--config', '--import-map', '--filter', '--reporter', '--env']),
);

/** Runs Deno's test runner with the options of the project's task, and reads its JUnit report. */
export const deno: Runner<TestReport> = {
  name: 'deno',
  title: 'deno test',
  language: 'javascript',
  signs: { files: ['deno.json', 'deno.jsonc'], fallback: ['deno.lock'] },
  async commands({ root, target, filter, mark }, files) {
    const last = [
      ...(filter === undefined ? [] : [`--filter=${filter}`]),
      ...(target === undefined ? [] : [target]),
    ];
    const around = intoFile('--junit-path="$f"', mark);
    const task = scriptCommand(await tasksOf(files, root), 'test', findDenoTest);
    if (task === undefined) {
      return [await runPlainCommand(files, { root, command: 'deno test' }, { last, around })];
    }
    const drop = (word: string, before: string) =>
      target !== undefined && word !== 'test' && isPath(word, before);
    return [await scriptToolCommand(files, { root, found: task }, { last, around, drop })];
  },
  parser: ({ mark }) => {
    const unloaded = new Set<string>();
    return fileParser(
      mark,
      (text) => {
        const tests = junitTests(text, {
          fileOf: ({ suite }) => suite,
          nameOf: ({ name }) => name,
        });
        return tests && { tests: [...tests, ...[...unloaded].map(unloadedFile)], problems: [] };
      },
      (line) => {
        const file = UNCAUGHT.exec(line)?.[1];
        if (file !== undefined) unloaded.add(file);
      },
    );
  },
};

// A module that does not load is only in the printed output, not in the report.
const UNCAUGHT = /^(\S.*) \(uncaught error\)$/;

async function tasksOf(files: ProjectFiles, root: string): Promise<ReadonlyMap<string, string>> {
  const config =
    (await files.json(join(root, 'deno.json'))) ?? (await files.json(join(root, 'deno.jsonc')));
  const tasks = Object.entries(partOf(config, 'tasks') ?? {});
  return new Map(
    tasks.flatMap(([name, task]) => {
      const text = typeof task === 'string' ? task : partOf(task)?.command;
      return typeof text === 'string' ? [[name, text] as const] : [];
    }),
  );
}

function findDenoTest(words: readonly Word[]): number | undefined {
  const at = findProgram(['deno'], words);
  return at !== undefined && words[at + 1]?.text === 'test' ? at : undefined;
}
