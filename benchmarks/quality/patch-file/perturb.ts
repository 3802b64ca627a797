import type { Edit } from './corpus.js';

/** A way in which a hunk is not as the file has it, though it means the same edit. */
export interface Perturbation {
  name: string;
  /** The search text is as in the file; only the replacement is damaged. */
  replaceOnly?: boolean;
  /** `undefined` where it changes nothing of this edit. */
  apply: (edit: Edit) => Edit | undefined;
}

type Change = (text: string) => string;

const eachLine =
  (change: (line: string, at: number) => string): Change =>
  (text) =>
    text.split('\n').map(change).join('\n');
const eachIndent = (change: (indent: string) => string): Change =>
  eachLine((line) => {
    const indent = /^[ \t]*/.exec(line)?.[0] ?? '';
    return indent.length === line.length ? line : change(indent) + line.slice(indent.length);
  });

function commonIndent(text: string): string {
  const indents = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => /^[ \t]*/.exec(line)?.[0] ?? '');
  return indents.reduce((a, b) => {
    let at = 0;
    while (at < a.length && a[at] === b[at]) at += 1;
    return a.slice(0, at);
  }, indents[0] ?? '');
}

const INDENTATION: Record<string, Change> = {
  'indentation lost': eachIndent(() => ''),
  'tabs for 4 spaces': eachIndent((indent) => indent.replaceAll('    ', '\t')),
  'tabs for 2 spaces': eachIndent((indent) => indent.replaceAll('  ', '\t')),
  '4 spaces for tabs': eachIndent((indent) => indent.replaceAll('\t', '    ')),
  '8 spaces for tabs': eachIndent((indent) => indent.replaceAll('\t', '        ')),
  'twice as wide': eachIndent((indent) => indent.replaceAll(/ +/g, '$&$&')),
  'half as wide': eachIndent((indent) => indent.replaceAll(/ {2}/g, ' ')),
  '4 spaces deeper': eachIndent((indent) => `    ${indent}`),
  'one level out': (text) => {
    const common = commonIndent(text);
    return eachIndent((indent) => indent.slice(common.length))(text);
  },
  'first line trimmed': (text) => text.replace(/^[ \t]+/, ''),
};

const OTHER: Record<string, Change> = {
  'trailing blanks': eachLine((line) => (line.trim() === '' ? line : `${line}  `)),
  'doubled blanks': eachLine((line) => line.replaceAll(/(?<=\S) +(?=\S)/g, '$&$&')),
  'blank lines added': (text) =>
    text
      .split('\n')
      .map((line, at, { [at + 1]: next = '' }) =>
        at % 2 === 1 && next.trim() !== '' && line.trim() !== '' ? `${line}\n` : line,
      )
      .join('\n'),
  'blank lines dropped': (text) => text.replaceAll(/\n(?:[ \t]*\n)+(?=[^\n]*\S)/g, '\n'),
  'unicode quotes': (text) =>
    text.replaceAll(/"([^"\n]*)"/g, '“$1”').replaceAll(/'([^'\n]*)'/g, '‘$1’'),
};

function onSide(name: string, change: Change, side: 'search' | 'replace' | 'both'): Perturbation {
  return {
    name: `${name}: ${side}`,
    replaceOnly: side === 'replace',
    apply: (edit) => {
      const search = side === 'replace' ? edit.search : change(edit.search);
      const replace = side === 'search' ? edit.replace : change(edit.replace);
      const isSame = side === 'replace' ? replace === edit.replace : search === edit.search;
      return isSame ? undefined : { ...edit, search, replace };
    },
  };
}

const crlf: Change = (text) => text.replaceAll('\n', '\r\n');

function contextOff(first: boolean): Perturbation {
  return {
    name: `a line of context off: ${first ? 'first' : 'last'}`,
    apply: (edit) => {
      const [search, replace] = [edit.search.split('\n'), edit.replace.split('\n')];
      const [from, to] = first ? [0, 0] : [search.length - 1, replace.length - 1];
      const line = search[from] ?? '';
      if (search.length < 3 || line !== replace[to] || line.trim().length < 3) return undefined;
      const off = `${line.slice(0, -2)}xQ${line.slice(-1)}`;
      search[from] = off;
      replace[to] = off;
      return { ...edit, search: search.join('\n'), replace: replace.join('\n') };
    },
  };
}

/** The place is there twice, the second time with other indentation or the same. */
function duplicate(name: string, change: Change, hunk: Change): Perturbation {
  return {
    name: `duplicate of the place${name}`,
    apply: (edit) => {
      const copy = change(edit.search);
      const search = hunk(edit.search);
      const replace = hunk(edit.replace);
      const ending = edit.before.endsWith('\n') ? '' : '\n';
      return {
        ...edit,
        search,
        replace,
        before: `${edit.before}${ending}${copy}\n`,
        after: `${edit.after}${edit.after.endsWith('\n') ? '' : '\n'}${copy}\n`,
      };
    },
  };
}

/** Every way that the harness tries. */
export const PERTURBATIONS: readonly Perturbation[] = [
  { name: 'none', apply: (edit) => edit },
  ...Object.entries(INDENTATION).flatMap(([name, change]) =>
    (['search', 'replace', 'both'] as const).map((side) => onSide(name, change, side)),
  ),
  ...Object.entries(OTHER).flatMap(([name, change]) =>
    (['search', 'both'] as const).map((side) => onSide(name, change, side)),
  ),
  {
    name: 'the file has CRLF',
    apply: (edit) =>
      edit.search.includes('\n') || edit.replace.includes('\n')
        ? { ...edit, before: crlf(edit.before), after: crlf(edit.after) }
        : undefined,
  },
  onSide('CRLF in the hunk', crlf, 'search'),
  onSide('CRLF in the hunk', crlf, 'both'),
  { name: 'CRLF in one line of the place', apply: mixedEndings },
  {
    name: 'final line break added: both',
    apply: (edit) =>
      edit.search.endsWith('\n')
        ? undefined
        : { ...edit, search: `${edit.search}\n`, replace: `${edit.replace}\n` },
  },
  {
    name: 'final line break added: search',
    apply: (edit) =>
      edit.search.endsWith('\n') ? undefined : { ...edit, search: `${edit.search}\n` },
  },
  {
    name: 'the file lacks its final newline',
    apply: (edit) =>
      edit.before.endsWith(`${edit.search}\n`) && edit.after.endsWith('\n')
        ? {
            ...edit,
            search: `${edit.search}\n`,
            replace: `${edit.replace}\n`,
            before: edit.before.slice(0, -1),
            after: edit.after.slice(0, -1),
          }
        : undefined,
  },
  contextOff(true),
  contextOff(false),
  duplicate(
    '',
    (text) => text,
    (text) => text,
  ),
  duplicate(
    ' without its indentation, and so the hunk',
    eachIndent(() => ''),
    eachIndent(() => ''),
  ),
  duplicate(
    ' deeper',
    eachIndent((indent) => `    ${indent}`),
    (text) => text,
  ),
];

/** The first line of the place ends in CRLF, unlike the others; the hunk keeps it. */
function mixedEndings(edit: Edit): Edit | undefined {
  const [first = ''] = edit.search.split('\n');
  const lines = edit.search.split('\n').filter((line) => line.trim() !== '');
  if (first.trim() === '' || lines.length < 4 || !edit.replace.startsWith(`${first}\n`))
    return undefined;
  const end = edit.before.indexOf(edit.search) + first.length;
  const mark = (text: string) => `${text.slice(0, end)}\r${text.slice(end)}`;
  return { ...edit, before: mark(edit.before), after: mark(edit.after) };
}
