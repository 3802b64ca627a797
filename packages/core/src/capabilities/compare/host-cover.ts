import { compileHostSet, parseHostPattern } from '@ethosagent/policy';

/** Put before the name of a pattern, it gives a host that the pattern covers and that no exact pattern names. */
const LABEL = { suffix: 'a.', any: 'a' };

/**
 * Compiles patterns, so that many others can be compared with them.
 *
 * @param patterns host patterns; malformed ones cover nothing
 * @returns whether one of the patterns covers every host of the asked one. A malformed pattern has no
 * hosts, so any pattern covers it
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
