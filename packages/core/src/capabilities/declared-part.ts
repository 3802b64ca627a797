import { shorten } from '@ethosagent/policy';

// Of a path that is as long as one can be. Where it stands says which it is.
const MAX_ENTRY_CHARS = 300;

/** A part of a declaration, for the audit: `network.allowedHosts[1] = "*.example.com"`. */
export function declaredPart(part: string, value: unknown): string {
  const shown = typeof value === 'string' ? shorten(value, MAX_ENTRY_CHARS) : value;
  return `${part} = ${JSON.stringify(shown)}`;
}

/** The entry of a declared list, or the list by its name where none is meant. */
export function declaredEntry(
  part: string,
  entries: readonly unknown[],
  index: number | undefined,
): string {
  return index === undefined || index < 0
    ? part
    : declaredPart(`${part}[${index}]`, entries[index]);
}
