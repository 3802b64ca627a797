import { nearestName } from './nearest-name.js';

/**
 * The answer to a call of a tool that does not exist.
 *
 * @param offered names of the tools that the caller may know of; of others none is suggested
 */
export function missingToolText(name: string, offered: Iterable<string>): string {
  const near = nearestName(name, offered);
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  return `there is no tool ${JSON.stringify(name)}${hint}`;
}
