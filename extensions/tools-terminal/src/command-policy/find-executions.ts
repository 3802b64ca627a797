const FILTERS =
  /^-(name|iname|path|ipath|wholename|regex|iregex|type|size|mtime|atime|ctime|mmin|amin|cmin|newer.*|empty|perm|user|group|mindepth|links|inum|nouser|nogroup|samefile|lname|ilname|fstype)$/;
const EXECUTES = /^-(exec|execdir|ok|okdir)$/;

/** Where `find` begins. */
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

/** Whether `find` leaves out some of what it comes upon. */
export function isFiltered(args: readonly string[]): boolean {
  return args.some((word) => FILTERS.test(word));
}

/** The commands that `find` or `fd` runs, with the worst that it may put for `{}`. */
export function findExecutions(name: string, args: readonly string[]): string[][] {
  if (name.startsWith('fd')) {
    const at = args.findIndex((word) => /^(-x|-X|--exec|--exec-batch)$/.test(word));
    if (at === -1) return [];
    const words = args.slice(at + 1);
    const found = words.some((word) => /\{[^}]*\}/.test(word)) ? words : [...words, './found'];
    return [found.map((word) => word.replace(/\{[^}]*\}/, './found'))];
  }
  const found: string[][] = [];
  for (const [at, word] of args.entries()) {
    if (!EXECUTES.test(word)) continue;
    const rest = args.slice(at + 1);
    const end = rest.findIndex(
      (other, index) => other === ';' || (other === '+' && rest[index - 1] === '{}'),
    );
    const words = end === -1 ? rest : rest.slice(0, end);
    for (const root of findRoots(args)) {
      const below = isFiltered(args.slice(0, at)) ? `${root}/found` : root;
      found.push(words.map((inner) => inner.replaceAll('{}', below)));
    }
  }
  return found;
}
