import { compileHostSet, parseHostPattern } from '@ethosagent/policy';

/** In front of what a pattern names, it makes a host that the pattern covers and no single host of a set is. */
const LABEL = { suffix: 'a.', any: 'a' };

/**
 * Compiles patterns, to ask of many others whether one of these covers all that they cover.
 *
 * @param patterns host patterns; malformed ones cover nothing
 * @returns says it of a pattern. A malformed one stands for no host: any pattern covers that
 */
export function hostCover(patterns: readonly string[]): (pattern: string) => boolean {
  const parsed = patterns.flatMap((pattern) => parseHostPattern(pattern) ?? []);
  const texts = new Set(parsed.map(({ text }) => text));
  const setOf = (...kinds: readonly string[]) =>
    compileHostSet(parsed.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text));
  // A single host covers no pattern for many.
  const sets = { exact: compileHostSet(texts), suffix: setOf('suffix', 'any'), any: setOf('any') };
  return (pattern) => {
    const asked = parseHostPattern(pattern);
    if (asked === null) return patterns.length > 0;
    const { kind, host, port, text } = asked;
    if (texts.has(text)) return true;
    const name = kind === 'exact' ? host : `${LABEL[kind]}${host}`;
    return sets[kind].matches(name, port) !== undefined;
  };
}
