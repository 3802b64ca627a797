import { shorten } from '@ethosagent/policy';

// A path may be as long as 4096 characters. The index of the entry identifies it even when it is
// cut.
const MAX_ENTRY_CHARS = 300;

/** A part of a declaration, for the audit: `network.allowedHosts[1] = "*.example.com"`. */
export function declaredPart(part: string, value: unknown): string {
  const shown = typeof value === 'string' ? shorten(value, MAX_ENTRY_CHARS) : value;
  return `${part} = ${JSON.stringify(shown)}`;
}

/** An entry of a declared list, or the name of the list when no single entry is meant. */
export function declaredEntry(
  part: string,
  entries: readonly unknown[],
  index: number | undefined,
): string {
  return index === undefined || index < 0
    ? part
    : declaredPart(`${part}[${index}]`, entries[index]);
}
