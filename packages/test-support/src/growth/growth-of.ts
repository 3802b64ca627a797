import { bundleScript } from '../bundle-script.js';
import { inPlace } from '../in-turn/place.js';
import { runNode } from '../in-turn/run-in-turn.js';
import { isLongRun } from '../tries.js';
import type { Growth, Work } from './measure-growth.js';

/** How much more than linear a cost may be: some costs grow in steps, as a table that doubles. */
const SLACK = 1.15;
/** The share of the work that differs between runs: the output of a program comes in more or fewer pieces. */
const NOISE = 0.05;
const JUMPS: ReadonlySet<string> = new Set(['blocks', 'characters', 'fileCalls', 'fileBytes']);
/** Growth by fewer than this says nothing. */
const FEW = 10;

const SIZES = { check: [100, 200, 400], long: [100, 400, 1_600] };

/**
 * Runs a script that exports `measured`, in a process of its own. If something grows too much, the
 * script runs a second time, and the lower counts hold: what reads the machine's table of processes
 * does more while other programs start.
 *
 * @param script its `file:` URL
 * @param sizes three, in a check and in a long run
 * @returns what each thing took, by size
 */
export async function growthOf(script: URL, sizes = SIZES): Promise<Growth[]> {
  const meter = await bundleScript(new URL('measure-growth.ts', import.meta.url));
  const bundle = await bundleScript(script);
  const measure = async (): Promise<Growth[]> => {
    const { exitCode, stdout, log } = await inPlace((place) =>
      runNode([meter, bundle, ...sizes[isLongRun() ? 'long' : 'check'].map(String)], place),
    );
    if (exitCode !== 0) throw new Error(log);
    return JSON.parse(stdout);
  };
  const first = await measure();
  if (first.every((growth) => steepParts(growth).length === 0)) return first;
  return fewestOf(first, await measure());
}

function fewestOf(first: readonly Growth[], second: readonly Growth[]): Growth[] {
  return first.map(({ name, measured }, at) => ({
    name,
    measured: measured.map(({ size, work }, index) => {
      const again = second[at]?.measured[index]?.work ?? work;
      const fewest = (count: keyof Work) => Math.min(work[count], again[count]);
      return {
        size,
        work: {
          blocks: fewest('blocks'),
          counted: fewest('counted'),
          items: fewest('items'),
          characters: fewest('characters'),
          fileCalls: fewest('fileCalls'),
          fileBytes: fewest('fileBytes'),
        },
      };
    }),
  }));
}

/**
 * Finds the counts that grew too much. Between the two larger sizes, each additional item may take
 * what it took between the two smaller ones, and 15 % more. A cost that is the same at every size
 * takes no part in this.
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
    const steps = (most.size - between.size) / (between.size - least.size);
    const allowed = Math.max(0, some - few) * steps * SLACK + some * NOISE + FEW;
    // The work of a sort grows in jumps, and the output of other programs is read in pieces.
    const isInProportion = JUMPS.has(count) && many <= few * (most.size / least.size) * SLACK;
    if (isInProportion || many - some <= allowed) return [];
    const sizes = measured.map(({ size }) => size).join(', ');
    return [`${name}: ${few}, ${some}, ${many} ${count} for ${sizes}`];
  });
}

function entriesOf(work: Work): Array<[keyof Work, number]> {
  const { blocks, counted, items, characters, fileCalls, fileBytes } = work;
  return [
    ['blocks', blocks],
    ['counted', counted],
    ['items', items],
    ['characters', characters],
    ['fileCalls', fileCalls],
    ['fileBytes', fileBytes],
  ];
}
