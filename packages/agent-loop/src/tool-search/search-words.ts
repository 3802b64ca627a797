/** Words that don't help to find a tool. */
const COMMON = new Set(
  'a an all and any are as at be been can could do does for from had has have how i if in into is it its me my need now of on or our please so some that the their them then there these this those to use used using want was we were what when where which who why will with would you your'.split(
    ' ',
  ),
);

/** Different words that people and services use for the same thing. */
const MEANINGS: readonly (readonly string[])[] = [
  ['add', 'create', 'make', 'new', 'insert'],
  ['remove', 'delete', 'erase', 'destroy'],
  ['change', 'update', 'edit', 'modify', 'patch', 'set', 'replace'],
  ['show', 'get', 'read', 'view', 'see', 'retrieve', 'fetch', 'list', 'display', 'look'],
  ['find', 'search', 'query', 'lookup'],
  ['send', 'post', 'write'],
  ['run', 'execute', 'exec', 'start', 'launch'],
  ['stop', 'cancel', 'abort', 'end'],
  ['restart', 'rerun', 'retry'],
  ['rename', 'move'],
  ['choose', 'select', 'pick'],
  ['folder', 'directory'],
  ['mail', 'email', 'message'],
  ['picture', 'image', 'screenshot', 'photo'],
  ['website', 'page', 'url', 'site', 'web'],
  ['open', 'navigate', 'visit'],
  ['log', 'output'],
  ['sprint', 'iteration'],
  ['pull', 'merge'],
  ['ticket', 'issue', 'story'],
  ['boss', 'manager'],
  ['colleague', 'user', 'person', 'member', 'people'],
  ['online', 'presence', 'available'],
  ['meeting', 'event', 'appointment'],
  ['schedule', 'cron', 'nightly'],
  ['version', 'revision', 'release'],
  ['replica', 'scale'],
  ['size', 'info', 'metadata'],
  ['command', 'exec', 'shell'],
  ['http', 'network', 'request'],
  ['todo', 'task'],
  ['price', 'cost', 'usage', 'billing'],
  ['document', 'file', 'doc'],
];

/** Splits a text into words. `listPullRequests` and `list_pull_requests` are three words each. */
export function wordsOf(text: string): string[] {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** The terms of a word: itself and its meaning. `null` for a word that does not help. */
export function termsOf(word: string): string[] | null {
  return COMMON.has(word) ? null : [stemOf(word), ...meaningsOf(word)];
}

/** The meanings of a word. Their form differs from that of every word. */
export function meaningsOf(word: string): readonly string[] {
  return MEANINGS_BY_STEM.get(stemOf(word)) ?? [];
}

/** Gives plurals and the forms of a verb the same stem. */
export function stemOf(word: string): string {
  if (word.length <= 3) return word;
  const one = word
    .replace(/ies$/, 'y')
    .replace(/(ss|x|ch|sh)es$/, '$1')
    .replace(/([^su])s$/, '$1');
  const plain = one.replace(/(?:ing|ed)$/, '');
  const root = plain.length >= 3 ? plain.replace(/([^lsz])\1$/, '$1') : one;
  return root.length > 3 ? root.replace(/e$/, '') : root;
}

const MEANINGS_BY_STEM: ReadonlyMap<string, readonly string[]> = (() => {
  const byStem = new Map<string, string[]>();
  for (const [at, group] of MEANINGS.entries()) {
    for (const stem of new Set(group.map(stemOf))) {
      byStem.set(stem, [...(byStem.get(stem) ?? []), `=${at}`]);
    }
  }
  return byStem;
})();
