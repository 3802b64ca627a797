import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, whatever its size says: begun last, each would run on alone. */
const LONGEST = [
  'docs/snippets.test.ts',
  'scripts/pack.test.ts',
  'examples/stories.test.ts',
  'run-tests.test.ts',
  'ways-out.test.ts',
  'scoped-process-attacks.test.ts',
  'unresponsive.test.ts',
  'killed-turns.test.ts',
  'contained.test.ts',
];

/** Begins with the test files that take longest. */
export class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((end) => moduleId.endsWith(end));
      return place === -1 ? LONGEST.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
