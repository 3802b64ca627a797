import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest files. Their size does not show it. If they began last, they would run alone at the end. */
const LONGEST = [
  'docs/snippets.test.ts',
  'scripts/pack.test.ts',
  'session-processes.test.ts',
  'examples/stories.test.ts',
  'scoped-process-attacks.test.ts',
  'inspect-page.test.ts',
  'storage-fs/src/attacks.test.ts',
  'inspect-axe.test.ts',
  'untrusted-files.test.ts',
  'ways-out.test.ts',
  'hostile-texts.test.ts',
  'run-tests.test.ts',
  'record.test.ts',
  'browse.test.ts',
  'unresponsive.test.ts',
  'killed-turns.test.ts',
  'attacks/fs-attacks.test.ts',
  // These take long in a long run only.
  'patch-file.test.ts',
  'docs/site.test.ts',
  'scoped-process-host-end.test.ts',
  'fleet.test.ts',
  'dry-run.test.ts',
];

function placeOf({ moduleId, project }: TestSpecification): number {
  if (project.name === 'alone') return -2;
  if (project.name === 'measured') return -1;
  const place = LONGEST.findIndex((end) => moduleId.endsWith(end));
  return place === -1 ? LONGEST.length : place;
}

/**
 * Begins with the test files that have a worker of their own, and those that measure theirs: between two of the others, each
 * would end the workers that those share, and the next ones load all packages anew. Then come those
 * that take longest.
 */
export class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }

  /** Deals the files out one by one, so that each shard gets its share of those that take longest. */
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 };
    // By name first: each shard runs on a machine of its own, and must deal them out in one order.
    const byName = files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
    return byName
      .toSorted((a, b) => placeOf(a) - placeOf(b))
      .filter((_, at) => at % count === index - 1);
  }
}
