/**
 * Works out how the indentation of a file differs from that of the lines a model wrote for it.
 *
 * @param wanted the lines as written
 * @param found the lines of the file that they stand for, as many
 * @returns a function that gives a text the file's indentation, or `undefined` when one written
 * indentation stands for several in the file
 */
export function reindenter(
  wanted: readonly string[],
  found: readonly string[],
): ((text: string) => string) | undefined {
  const known = new Map<string, string>();
  for (const [at, line] of wanted.entries()) {
    if (line.trim() === '') continue;
    const written = indentOf(line);
    const actual = indentOf(found[at] ?? '');
    if ((known.get(written) ?? actual) !== actual) return undefined;
    known.set(written, actual);
  }
  const translate = translator(known);
  return (text) =>
    text
      .split('\n')
      .map((line) => {
        const indent = indentOf(line);
        return line.trim() === '' ? line : translate(indent) + line.slice(indent.length);
      })
      .join('\n');
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** Looks an indentation up among the examples, and works out those that there is no example of. */
function translator(examples: ReadonlyMap<string, string>): (written: string) => string {
  const known = new Map(examples);
  const longestFirst = [...examples].sort(([a], [b]) => b.length - a.length);
  const shortestFirst = longestFirst.toReversed();
  const inUnits = unitExchange(examples);

  /** The nearest example, and the difference. */
  function derive(written: string): string {
    const below = longestFirst.find(([example]) => written.startsWith(example));
    if (below !== undefined) {
      const [example, actual] = below;
      return actual + inUnits(written.slice(example.length));
    }
    const above = shortestFirst.find(([example]) => example.startsWith(written));
    if (above === undefined) return written;
    const [example, actual] = above;
    const surplus = inUnits(example.slice(written.length));
    return actual.endsWith(surplus) ? actual.slice(0, actual.length - surplus.length) : written;
  }

  return (written) => {
    const actual = known.get(written) ?? derive(written);
    known.set(written, actual);
    return actual;
  };
}

/** Spaces as tabs, or tabs as spaces, where the examples show such an exchange. */
function unitExchange(examples: ReadonlyMap<string, string>): (indent: string) => string {
  for (const [example, actual] of examples) {
    const ratio = example.length / actual.length;
    if (/^ +$/.test(example) && /^\t+$/.test(actual) && Number.isInteger(ratio)) {
      return (indent) => indent.replaceAll(' '.repeat(ratio), '\t');
    }
    const inverse = actual.length / example.length;
    if (/^\t+$/.test(example) && /^ +$/.test(actual) && Number.isInteger(inverse)) {
      return (indent) => indent.replaceAll('\t', ' '.repeat(inverse));
    }
  }
  return (indent) => indent;
}
