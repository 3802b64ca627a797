/** Text in which bash runs substitutions when it takes it for a number or the name of a variable. */
export function hasSubscript(word: string): boolean {
  let isOpen = false;
  for (let at = 0; at < word.length; at += 1) {
    const character = word.charAt(at);
    if (character === '[') isOpen = true;
    else if (character === ']') isOpen = false;
    else if (
      isOpen &&
      (character === '`' || (character === '$' && /[({]/.test(word.charAt(at + 1))))
    )
      return true;
  }
  return false;
}
