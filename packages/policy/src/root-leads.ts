import { join, relative } from 'node:path';
import { isWithin } from './paths.js';

/** Where roots of a reach lead, by root, as it was looked up when the reach was loaded. */
export type RootLeads = Readonly<Record<string, string>>;

/**
 * Where a root leads. A root that was looked up before leads where it led then, even if something
 * else stands at its path now; a root below it must lead to a place below that.
 *
 * @param root an absolute path
 * @param leads where roots led when they were looked up, by root
 * @param realPathOf looks up what is not known
 * @returns an absolute path, or `undefined` for a root that leads out of the known one that it is
 * below
 */
export function leadOf(
  root: string,
  leads: RootLeads | undefined,
  realPathOf: (path: string) => string,
): string | undefined {
  const [above] = Object.entries(leads ?? {})
    .filter(([known]) => isWithin(root, known))
    .sort(([a], [b]) => b.length - a.length);
  if (above === undefined) return realPathOf(root);
  const [known, lead] = above;
  const below = relative(known, root);
  if (below === '') return lead;
  const real = realPathOf(join(lead, below));
  return isWithin(real, lead) ? real : undefined;
}
