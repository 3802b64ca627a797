import { join, relative } from 'node:path';
import { isWithin } from './paths.js';

/** Where roots of a reach lead, by root, as it was looked up when the reach was loaded. */
export type RootLeads = Readonly<Record<string, string>>;

/**
 * Where a root leads. One that was looked up before keeps its place, whatever stands there by now,
 * and one below it may lead no further.
 *
 * @param realPathOf looks up what is not known
 * @returns `undefined` for a root that leads out of the known one that it is below
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
