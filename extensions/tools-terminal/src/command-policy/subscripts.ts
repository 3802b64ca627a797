/**
 * Whether bash would run a substitution in a text when it reads the text as a number or as a
 * variable's name.
 */
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
