import { bundleScript } from '../bundle-script.js';
import { inPlace } from '../in-turn/place.js';
import { runNode } from '../in-turn/run-in-turn.js';
import { isLongRun } from '../tries.js';
import type { Growth, Work } from './measure-growth.js';

/** How many times as much as a linear cost it may be: a little grows by steps, as a table that doubles. */
const SLACK = 1.15;

const SIZES = { check: [100, 200, 400], long: [100, 400, 1_600] };

/**
 * Runs a script that exports `measured`, in a process of its own.
 *
 * @param script its `file:` URL
 * @param sizes three, in a check and in a long run
 * @returns what each thing took, by size
 */
export async function growthOf(script: URL, sizes = SIZES): Promise<Growth[]> {
  const meter = await bundleScript(new URL('measure-growth.ts', import.meta.url));
  const bundle = await bundleScript(script);
  const { exitCode, stdout, log } = await inPlace((place) =>
    runNode([meter, bundle, ...sizes[isLongRun() ? 'long' : 'check'].map(String)], place),
  );
  if (exitCode !== 0) throw new Error(log);
  return JSON.parse(stdout);
}

/**
 * How work grew too much. From the smallest size on, an n-fold size may take n times the work, or each
 * size more as much as a size more took before; and 15 % more than that.
 *
 * @param growth of one thing
 * @returns one line for each count that grew more; none where it is linear
 */
export function steepParts({ name, measured }: Growth): string[] {
  const [least, between, most] = measured.map(({ size, work }) => ({
    size,
    counts: entriesOf(work),
  }));
  if (least === undefined || between === undefined || most === undefined)
    throw new Error('three sizes show how something grows');
  if (measured.some(({ work }) => work.blocks === 0)) return [`${name}: nothing was measured`];
  return least.counts.flatMap(([count, few], at) => {
    const some = between.counts[at]?.[1] ?? 0;
    const many = most.counts[at]?.[1] ?? 0;
    // From nothing, a few may come.
    const isInProportion = many <= Math.max(few, 10) * (most.size / least.size) * SLACK;
    const steps = (most.size - between.size) / (between.size - least.size);
    const isSteady = some > few && many - some <= (some - few) * steps * SLACK;
    if (isInProportion || isSteady) return [];
    const sizes = measured.map(({ size }) => size).join(', ');
    return [`${name}: ${few}, ${some}, ${many} ${count} for ${sizes}`];
  });
}

function entriesOf(work: Work): Array<[keyof Work, number]> {
  const { blocks, counted, elements, fileCalls, fileBytes } = work;
  return [
    ['blocks', blocks],
    ['counted', counted],
    ['elements', elements],
    ['fileCalls', fileCalls],
    ['fileBytes', fileBytes],
  ];
}
