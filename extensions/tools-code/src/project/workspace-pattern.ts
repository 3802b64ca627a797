/** Limits for what a hostile file may ask for. A longer pattern covers nothing. */
const MAX_PATTERN_CHARS = 200;
const MAX_ALTERNATIVES = 50;

/**
 * Whether a pattern of a workspace covers a folder. `*` and `?` stand for characters of one name,
 * `**` for any folders, and `{a,b}` for one of several texts.
 *
 * The attack: a repository brings the pattern and the name of the folder. A regular expression for
 * `*a*a*a*a*b` and a long name would keep the host busy for years. Here the time grows with the
 * product of the two lengths.
 *
 * @param folder the path of the folder, relative to the root of the workspace, with slashes
 */
export function coversFolder(pattern: string, folder: string): boolean {
  if (pattern.length > MAX_PATTERN_CHARS) return false;
  const names = folder.split('/');
  return alternativesOf(pattern).some((each) => {
    const parts = each.replace(/^\.\//, '').replace(/\/$/, '').split('/');
    return covers(parts, names, { star: '**', coversOne: coversName });
  });
}

function coversName(pattern: string, name: string): boolean {
  if (name.startsWith('.') && !pattern.startsWith('.')) return false;
  const coversOne = (one: string, char: string) => one === '?' || one === char;
  return covers([...pattern], [...name], { star: '*', coversOne });
}

/** Whether a pattern covers all items. A star covers any number of them. */
function covers(
  pattern: readonly string[],
  items: readonly string[],
  { star, coversOne }: { star: string; coversOne: (one: string, item: string) => boolean },
): boolean {
  // Which numbers of items are covered by the part of the pattern so far.
  let covered = [true, ...items.map(() => false)];
  for (const one of pattern) {
    const before = covered;
    let isAny = false;
    covered = before.map((isCovered, count) => {
      isAny ||= isCovered;
      if (one === star) return isAny;
      const item = items[count - 1];
      return item !== undefined && before[count - 1] === true && coversOne(one, item);
    });
  }
  return covered.at(-1) === true;
}

/** Writes out each `{a,b}` of a pattern. */
function alternativesOf(pattern: string): string[] {
  const found = [pattern];
  for (let at = 0; at < found.length && found.length <= MAX_ALTERNATIVES; ) {
    const text = found[at] ?? '';
    const group = /\{([^{}]*)\}/.exec(text);
    if (group === null) {
      at += 1;
      continue;
    }
    const [whole, inner = ''] = group;
    const before = text.slice(0, group.index);
    const after = text.slice(group.index + whole.length);
    found.splice(at, 1, ...inner.split(',').map((each) => before + each + after));
  }
  return found;
}
