/** Gives the file's indentation for a written one; `undefined` where it can't be told. */
export type IndentMap = (written: string) => string | undefined;

/** How an indentation was written, and what it is in the file. */
export type IndentExample = readonly [written: string, actual: string];

const TAB_WIDTHS = [1, 2, 3, 4, 8];

/**
 * Every simple way in which the written indentation may have come from that of the file: the block
 * moved in or out, tabs for spaces or the reverse, another width. What is given by all of them alike
 * is certain; where they differ, nobody can tell.
 *
 * @returns the maps that explain every example
 */
export function explainingMaps(examples: readonly IndentExample[]): IndentMap[] {
  const table = new Map(examples);
  // Two that are written apart and are one in the file came about in another way.
  const isOneToOne = new Set(table.values()).size === table.size;
  return [
    (indent: string) => (isOneToOne ? table.get(indent) : undefined),
    ...shifts(examples),
    ...TAB_WIDTHS.flatMap(tabExchanges),
    ...widthRatio(examples),
  ].filter((map) => examples.every(([written, actual]) => map(written) === actual));
}

/** The block was moved as a whole. */
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

/** Levels of another width, in spaces. */
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
