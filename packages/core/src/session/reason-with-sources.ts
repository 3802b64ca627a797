import { oneLine } from '@ethosagent/policy';
import type { UntrustedSource } from './session-api.js';

const MAX_SOURCES_SHOWN = 3;
const MAX_SOURCE_CHARS = 120;

/**
 * Returns the reason of a question together with the untrusted content that the session has read,
 * for whoever decides.
 *
 * @param reason why the call needs approval
 * @param sources where the content is from; none if the session has read no such content
 */
export function reasonWithSources(reason: string, sources: readonly UntrustedSource[]): string {
  if (sources.length === 0) return reason;
  const shown = sources.slice(0, MAX_SOURCES_SHOWN).map(showSource);
  const more = sources.length > shown.length ? ` and ${sources.length - shown.length} more` : '';
  return `${reason}; the untrusted content is from ${shown.join(', ')}${more}`;
}

/**
 * A source as a quoted string. JSON escapes keep it from ending its quotes: a page may have chosen
 * it as text for this reader.
 */
function showSource({ source, tool }: UntrustedSource): string {
  const name = oneLine(tool, MAX_SOURCE_CHARS);
  return source === tool ? name : `${JSON.stringify(oneLine(source, MAX_SOURCE_CHARS))} (${name})`;
}
