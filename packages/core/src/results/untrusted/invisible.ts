/**
 * The tag sequences of the flags of England, Scotland and Wales: the only ones that are emoji.
 * Any other tag characters spell text that nobody sees.
 */
const TAG_FLAG =
  '\\u{1F3F4}\\u{E0067}\\u{E0062}(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}';

/** Scripts whose letters change their shape by joiners, and in which words are written with them. */
const JOINING = [
  ...['Arabic', 'Syriac', 'Nko', 'Mandaic', 'Mongolian', 'Phags_Pa', 'Adlam', 'Hanifi_Rohingya'],
  ...['Hebrew', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu'],
  ...['Kannada', 'Malayalam', 'Sinhala', 'Tibetan', 'Myanmar', 'Khmer', 'Balinese', 'Javanese'],
]
  .map((script) => `\\p{scx=${script}}`)
  .join('');

/** Invisible characters that belong to what stands before them. */
const NEEDED = [
  TAG_FLAG,
  // In an emoji: 👩‍🚀, 🏳️‍🌈.
  '\\u200D(?<=\\p{ExtPict}[\\uFE0F\\p{EMod}]?\\u200D)(?=\\p{ExtPict})',
  // As an emoji or as text: ❤️, ▶︎; and keycaps: 1️⃣.
  '[\\uFE0E\\uFE0F](?<=(?![0-9#*])\\p{Emoji}[\\uFE0E\\uFE0F])',
  '\\uFE0F(?<=[0-9#*]\\uFE0F)(?=\\u20E3)',
  // One in a row.
  `[\\u200C\\u200D](?<=[${JOINING}][\\u200C\\u200D])(?<![\\u200C\\u200D]{2})`,
  '[\\u180B-\\u180F](?<=\\p{sc=Mongolian}[\\u180B-\\u180F])(?<![\\u180B-\\u180F]{2})',
];

// The interlinear marks are the invisible characters that Unicode does not call ignorable.
const INVISIBLE = new RegExp(`(${NEEDED.join('|')})|[\\p{DI}\\uFFF9-\\uFFFB]`, 'gu');

/** Takes out characters that nobody sees, but for those that shape the characters around them. */
export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, '$1');
}

const ESCAPE_SEQUENCE = new RegExp(
  [
    // CSI: colours, the cursor.
    '(?:\\x1B\\[|\\x9B)[0-?]*[ -/]*[@-~]',
    // OSC, DCS, SOS, PM, APC: titles, links, pictures. On one line and up to the next, so that one
    // without an end does not swallow the rest, and many of them are not read again and again.
    '(?:\\x1B[\\]PX^_]|[\\x9D\\x90\\x98\\x9E\\x9F])[^\\x07\\x1B\\x90\\x98\\x9C-\\x9F\\r\\n]*(?:\\x07|\\x1B\\\\|\\x9C)',
    '\\x1B[ -/]+[0-~]',
    '\\x1B[0-Z\\\\^-~]',
    '\\x1B',
  ].join('|'),
  'g',
);
const CONTROL = /(?![\t\n\r])\p{Cc}/gu;

/**
 * Takes out terminal escape sequences, and shows every other control character but tab, line feed
 * and carriage return as its picture (`␀`).
 */
export function withoutControls(text: string): string {
  return text.replace(ESCAPE_SEQUENCE, '').replace(CONTROL, (control) => {
    const code = control.charCodeAt(0);
    if (code > 0x7f) return '\uFFFD';
    return code === 0x7f ? '\u2421' : String.fromCharCode(0x2400 + code);
  });
}
