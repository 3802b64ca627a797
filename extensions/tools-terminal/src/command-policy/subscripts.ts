/** Text in which bash runs substitutions when it takes it for a number or the name of a variable. */
export function hasSubscript(word: string): boolean {
  return /\[[^\]]*(?:\$\(|`|\$\{)/.test(word);
}
