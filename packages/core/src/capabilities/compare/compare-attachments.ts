import type { CompareCapability } from './grant-change.js';

/** Types of files that one grant gives and the other may not. */
export const compareAttachments: CompareCapability = (before, after) => {
  const known = before.attachments?.mediaTypes ?? [];
  return (after.attachments?.mediaTypes ?? [])
    .filter((type) => !known.some((each) => coversType(each, type)))
    .map((type) => ({
      what: `attachments of the type ${type}`,
      entry: type,
      declared: 'attachments.mediaTypes',
    }));
};

function coversType(wide: string, narrow: string): boolean {
  const pattern = wide.toLowerCase();
  const type = narrow.toLowerCase();
  if (pattern === '*/*' || pattern === type) return true;
  return pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1));
}
