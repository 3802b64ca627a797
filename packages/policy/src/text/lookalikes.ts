/**
 * Characters that look like ASCII characters and that no normal form of Unicode converts to them.
 * Listed are the letters of the marking's name, and the characters that a tag is written with.
 * Source: the confusables of UTS #39.
 */
const LOOKALIKES: Readonly<Record<string, string>> = {
  u: 'ʉʋυսሀᑌᴜ∪⋃ꓴꞟꭎꭒ',
  n: 'νոռⲛꓠɴ',
  t: 'ŧτт⊤⟙ⲧꓔꭲᴛ',
  r: 'ɍʀгᖇᴦⲅꓣꭇꭈꭱꮁꮢ𝈖',
  s: 'ƽѕտꓢꜱ꟱ꮥꮪ',
  e: 'ɇεеҽ℮⋿ⴹꓰꬲꭼᴇ',
  d: 'đԁᑯᗞᗪꓒꓓꭰꮷᴅ',
  '<': '˂ᐸᚲ‹❮〈⟨❬⧼≺⋖⦑❰𝈶',
  '>': '˃ᐳ›❯〉⟩❭⧽≻⋗⦒❱𝈷',
  '/': '᜵⁁⁄∕╱⟋⧸Ⳇ〳ノ㇓丿⼃𝈺',
  '|': '│┃∣ǀ❘¦￨⎮⏐︱',
  ':': '∶꞉',
};

/** An invisible character that belongs to no word. */
const FILLER = '\u034F';
// The blocks that contain lookalikes. Most texts in Asian scripts lie outside of them.
const FOLDABLE =
  /[\u00A0-\u05FF\u1200-\u2FDF\u3008\u3009\u3033\u30CE\u31D3\u4E3F\uA4D0-\uA7FF\uAB30-\uABBF\uFE30-\uFE6F\uFF01-\uFFEF\u{1CCD6}-\u{1CCF9}\u{1D200}-\u{1D7FF}\u{1F100}-\u{1F1FF}]/gu;

const folded = new Map<string, string>();
for (const [ascii, lookalikes] of Object.entries(LOOKALIKES)) {
  for (const lookalike of lookalikes) {
    folded.set(lookalike, ascii.padEnd(lookalike.length, FILLER));
    // If the upper case has several characters, it is not a lookalike.
    const upper = lookalike.toUpperCase();
    if (upper.length === 1) folded.set(upper, ascii);
  }
}

/**
 * Replaces each character that looks like one of ASCII by that one: fullwidth, accented,
 * mathematical and circled letters, and letters of other scripts. For comparing only. Every
 * character stays at its place; one that takes two units is followed by a combining filler.
 *
 * @param text to compare
 * @returns a text of the same length
 */
export function foldLookalikes(text: string): string {
  return text.replace(FOLDABLE, (character) => {
    let ascii = folded.get(character);
    if (ascii === undefined) {
      ascii = decompose(character);
      folded.set(character, ascii);
    }
    return ascii;
  });
}

/**
 * A folded text without its fillers, and where each of its units stood.
 *
 * @param folded as `foldLookalikes` gave it
 * @returns the text, and `placeOf`, which turns an index in the text into one in `folded`
 */
export function withoutFillers(folded: string): {
  text: string;
  placeOf: (index: number) => number;
} {
  if (!folded.includes(FILLER)) return { text: folded, placeOf: (index) => index };
  const places: number[] = [];
  for (let at = 0; at < folded.length; at++) if (folded[at] !== FILLER) places.push(at);
  return {
    text: folded.replaceAll(FILLER, ''),
    placeOf: (index) => places[index] ?? folded.length,
  };
}

// Letters on a black ground and the halves of flags, which Unicode does not decompose. Outlined
// letters, which the Unicode version of Node 20 does not know.
const UNDECOMPOSED = [0x1f150, 0x1f170, 0x1f1e6, 0x1ccd6];

function decompose(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const block = UNDECOMPOSED.find((first) => code >= first && code < first + 26);
  if (block !== undefined) return String.fromCharCode(0x61 + code - block) + FILLER;
  const [base = '', ...marks] = character.normalize('NFKD');
  const isOne = base >= ' ' && base <= '~' && marks.every((mark) => /\p{M}/u.test(mark));
  return isOne ? base.padEnd(character.length, FILLER) : character;
}
