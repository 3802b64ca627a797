/** Texts that are all different, and that some layer might take for the same, or for more than one. */
export const ALIKE_TEXTS: readonly string[] = [
  ...['a', 'A', 'a ', ' a', 'a\0', '\0a', 'a\n', '\uff41', '%61', 'a%', 'a_', 'a*', "a'--", ''],
  ...['a:b', 'a::b', 'a:', ':a', 'a/b', '../a', 'a\\b', '{a}', 'a}', 'tool:a'],
  ...['\u00e9', 'e\u0301', '\u212a', 'K', 'k', '\u00df', 'ss', '\u{1f600}', '\u{1f601}', '\uffff'],
];
