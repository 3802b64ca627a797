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

/**
 * Those that start many processes. A process that has loaded much starts another one ten times as slowly
 * as one that is new, so these come before the other files of their worker.
 */
const STARTS_PROCESSES =
  /scoped-(process|background)|service-processes|process-seconds|search-files|unified-diff|open-database|real-bash|set-by-numbers|allowed-words|tools-(code|mcp)\/|tools-terminal\/src\/[^/]*$|contained\/|contained\.test/;

function placeOf({ moduleId, project }: TestSpecification): number {
  if (project.name === 'alone') return -1;
  const place = LONGEST.findIndex((end) => moduleId.endsWith(end));
  if (place !== -1) return place;
  return STARTS_PROCESSES.test(moduleId) ? LONGEST.length : LONGEST.length + 1;
}

/**
 * Begins with the test files that have a worker of their own: between two of the others, each would end
 * the workers that those share, and the next ones load all packages anew. Then come those that take
 * longest, and those that start many processes.
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
