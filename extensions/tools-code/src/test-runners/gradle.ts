import { basename, extname, join, relative } from 'node:path';
import type { ScopedFs } from '@ethosagent/types';
import { ancestors } from '../project/file-path.js';
import type { Runner } from '../project/runner.js';
import type { TestCase, TestReport } from '../report.js';
import { junitTests } from './junit-report.js';

const MAX_FOLDERS = 2_000;
// Results of other tasks may be from an earlier run, because nothing removes them.
const RESULTS = 'build/test-results/test';
const NOT_OURS = new Set(['node_modules', '.git', '.gradle', 'src']);

/** Runs Gradle's tests, and reads the JUnit results that it leaves in `build`. */
export const gradle: Runner<TestReport> = {
  name: 'gradle',
  title: 'Gradle',
  language: 'java',
  signs: {
    files: ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'],
  },
  async commands({ root, target, isTargetFile, filter }, files) {
    const chosen = [
      ...(target !== undefined && isTargetFile ? [basename(target, extname(target))] : []),
      ...(filter === undefined ? [] : [`*${filter}*`]),
    ];
    // The results of an earlier run are removed first. Otherwise they would count as results of this run.
    const args = ['--no-daemon', '--console=plain', '--continue', 'cleanTest', 'test'];
    for (const pattern of chosen) args.push('--tests', pattern);
    for (const folder of ancestors(root)) {
      const wrapper = join(folder, 'gradlew');
      if (await files.exists(wrapper)) {
        return [{ binary: 'sh', args: [wrapper, ...args], cwd: root }];
      }
    }
    return [{ binary: 'gradle', args, cwd: root }];
  },
  parser: () => ({ add: () => {}, end: () => undefined }),
  async readFiles({ root }, fs) {
    const tests: TestCase[] = [];
    let found = false;
    for await (const path of resultsBelow(fs, root)) {
      const some = junitTests(await fs.read(path), { fileOf: ({ classname }) => classname });
      // If one file is incomplete, the whole run has no result.
      if (some === undefined) return undefined;
      found = true;
      tests.push(...some);
    }
    return found ? { tests, problems: [] } : undefined;
  },
};

/**
 * Reads the files `build/test-results/test/TEST-*.xml` of a project and of the projects below it.
 */
async function* resultsBelow(fs: ScopedFs, root: string): AsyncGenerator<string> {
  const folders = [root];
  for (let seen = 0; seen < MAX_FOLDERS; seen += 1) {
    const folder = folders.pop();
    if (folder === undefined) return;
    const below = relative(root, folder).split('/');
    const isResults = below.slice(-3).join('/') === RESULTS;
    for (const { name, isDir } of await fs.listEntries(folder)) {
      const path = join(folder, name);
      if (isDir && !NOT_OURS.has(name)) folders.push(path);
      else if (isResults && /^TEST-.*\.xml$/.test(name)) yield path;
    }
  }
}
