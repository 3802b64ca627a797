import { nearestName } from './nearest-name.js';

/** How many names are listed if no name is similar. */
const MAX_LISTED = 8;
/** How many characters all listed names may have together. */
const MAX_LISTED_CHARS = 200;

/**
 * The answer to a call of a tool that does not exist. It names the tool that was likely meant, or
 * the tools that there are.
 *
 * @param name as the model wrote it
 * @param offered names of the tools that the caller may know of; no other name is suggested
 * @returns one sentence
 */
export function missingToolText(name: string, offered: Iterable<string>): string {
  const names = [...offered];
  const near = nearestName(name, names);
  const hint = near === undefined ? listed(names) : `; did you mean "${near}"?`;
  return `there is no tool ${JSON.stringify(name)}${hint}`;
}

function listed(names: readonly string[]): string {
  let chars = 0;
  const shown = names.slice(0, MAX_LISTED).filter((name) => {
    chars += name.length;
    return chars <= MAX_LISTED_CHARS;
  });
  if (shown.length === 0) return '';
  const all = shown.length < names.length ? `, … (${names.length} in all)` : '';
  return `; there ${names.length === 1 ? 'is' : 'are'} ${shown.join(', ')}${all}`;
}
