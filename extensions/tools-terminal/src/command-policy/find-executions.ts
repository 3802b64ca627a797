import { GLOB } from './marked-text.js';

const NAMES = /^-(name|iname|path|ipath|wholename)$/;
const EXECUTES = /^-(exec|execdir|ok|okdir)$/;

/** Returns the folders in which `find` starts. */
export function findRoots(args: readonly string[]): string[] {
  const roots: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (roots.length === 0 && /^-[HLP]+$|^-O\d|^--$/.test(word)) continue;
    if (roots.length === 0 && word === '-D') {
      at += 1;
      continue;
    }
    if (/^[-(!]/.test(word)) break;
    roots.push(word);
  }
  return roots.length === 0 ? ['.'] : roots;
}

/** Whether a test of `find` selects files by a specific name. */
export function isFilter(args: readonly string[], at: number): boolean {
  const word = args[at] ?? '';
  if (word === '-empty') return true;
  if (!NAMES.test(word) || /^(!|-not)$/.test(args[at - 1] ?? '')) return false;
  const value = args[at + 1] ?? '';
  return /[\w~#]/.test(value.replaceAll(/\[[^\]]*\]|\.git\b(?!\w)/g, '')) && !value.includes(GLOB);
}

/** Whether `find` leaves out most of the files that it finds. */
export function isFiltered(args: readonly string[]): boolean {
  return args.some((_, at) => isFilter(args, at));
}

const TESTS =
  /^-(name|iname|path|ipath|wholename|regex|iregex|type|xtype|size|[acm]time|[acm]min|used|newer.*|empty|perm|user|group|uid|gid|mindepth|links|inum|nouser|nogroup|samefile|lname|ilname|fstype)$/;

/** Whether `find` leaves out any file, e.g. its root. */
export function isTested(args: readonly string[]): boolean {
  return args.some((word) => TESTS.test(word));
}

/** Whether a name test of `find` may match the repository itself. */
export function findsRepository(args: readonly string[]): boolean {
  return args.some((word, at) => NAMES.test(word) && /(^|\/)\.git$/.test(args[at + 1] ?? ''));
}

/** Returns the commands that `find` or `fd` runs. `{}` becomes the worst path that it may be. */
export function* findExecutions(name: string, args: readonly string[]): Generator<string[]> {
  if (name.startsWith('fd')) yield* ofFd(args);
  else yield* ofFind(args);
}

function* ofFind(args: readonly string[]): Generator<string[]> {
  const roots = findRoots(args);
  const isRepository = findsRepository(args);
  let filtered = false;
  let tested = false;
  for (const [at, word] of args.entries()) {
    filtered ||= isFilter(args, at);
    tested ||= TESTS.test(word);
    if (!EXECUTES.test(word)) continue;
    const words: string[] = [];
    for (let next = at + 1; next < args.length; next += 1) {
      const inner = args[next] ?? '';
      if (inner === ';' || (inner === '+' && args[next - 1] === '{}')) break;
      words.push(inner);
    }
    for (const root of roots) {
      const all = tested ? `${root}/${GLOB}` : root;
      const below = filtered ? `${root}/${GLOB}found` : all;
      yield words.map((inner) => inner.replaceAll('{}', isRepository ? `${root}/.git` : below));
    }
  }
}

function* ofFd(args: readonly string[]): Generator<string[]> {
  const at = args.findIndex((word) => /^(-[a-zA-Z]*[xX]|--exec(-batch)?(=.*)?)$/.test(word));
  if (at === -1) return;
  const joined = /^--exec(?:-batch)?=(.*)$/s.exec(args[at] ?? '')?.[1];
  const words = [...(joined === undefined ? [] : [joined]), ...args.slice(at + 1)];
  // Its operands are a pattern, and then the folders in which it looks.
  const [pattern = '.', ...given] = args.slice(0, at).filter((word) => !word.startsWith('-'));
  const isNarrow = /\w/.test(pattern);
  for (const root of given.length === 0 ? ['.'] : given) {
    const all = given.length === 0 ? `${root}/${GLOB}` : root;
    const found = isNarrow ? `${root}/found` : all;
    const filled = words.some((word) => /\{[^{}]*\}/.test(word)) ? words : [...words, found];
    yield filled.map((word) => word.replaceAll(/\{[^{}]*\}/g, found));
  }
}
