/** Returns the file's indentation for a written one; `undefined` when it is unknown. */
export type IndentMap = (written: string) => string | undefined;

/** An indentation as it was written, and as it is in the file. */
export type IndentExample = readonly [written: string, actual: string];

const TAB_WIDTHS = [1, 2, 3, 4, 8];

/**
 * Finds every simple way in which the written indentation may have come from that of the file: the
 * block was moved in or out, tabs became spaces or spaces became tabs, or the width changed. A
 * result is certain when all ways agree on it, else unknown.
 *
 * @returns the maps that explain every example
 */
export function explainingMaps(examples: readonly IndentExample[]): IndentMap[] {
  const table = new Map(examples);
  // Two written indentations with one indentation in the file: this way does not explain them.
  const isOneToOne = new Set(table.values()).size === table.size;
  return [
    (indent: string) => (isOneToOne ? table.get(indent) : undefined),
    ...shifts(examples),
    ...TAB_WIDTHS.flatMap(tabExchanges),
    ...widthRatio(examples),
  ].filter((map) => examples.every(([written, actual]) => map(written) === actual));
}

function shifts(examples: readonly IndentExample[]): IndentMap[] {
  const [[written, actual] = ['', '']] = examples;
  const added = actual.endsWith(written) ? actual.slice(0, actual.length - written.length) : '';
  const removed = written.endsWith(actual) ? written.slice(0, written.length - actual.length) : '';
  return [
    ...(added === '' ? [] : [(indent: string) => added + indent]),
    ...(removed === ''
      ? []
      : [
          (indent: string) =>
            indent.startsWith(removed) ? indent.slice(removed.length) : undefined,
        ]),
  ];
}

function tabExchanges(width: number): IndentMap[] {
  const spaces = ' '.repeat(width);
  return [
    (indent) => indent.replaceAll('\t', spaces),
    ...(width === 1 ? [] : [(indent: string) => indent.replaceAll(spaces, '\t')]),
  ];
}

/** Returns a map when both indentations use spaces, with another width for each level. */
function widthRatio(examples: readonly IndentExample[]): IndentMap[] {
  const [written, actual] = examples.find(([written]) => written !== '') ?? ['', ''];
  if (written === '' || actual === '' || /\t/.test(written + actual)) return [];
  return [
    (indent) => {
      const width = (indent.length * actual.length) / written.length;
      return /\t/.test(indent) || !Number.isInteger(width) ? undefined : ' '.repeat(width);
    },
  ];
}
