/** A mark as a lenient reader finds it. */
export interface ReadMarking {
  source: string;
  tool: string;
  content: string;
}

const MARKING =
  /^<untrusted source="([^"'<>&\s]*)" tool="([^"'<>&\s]*)">\n([\s\S]*)\n<\/untrusted>$/;

/** Parses a marked text; `undefined` if it is not exactly one mark. */
export function readMarking(text: string): ReadMarking | undefined {
  const [, source, tool, content] = MARKING.exec(text) ?? [];
  if (source === undefined || tool === undefined || content === undefined) return undefined;
  return { source, tool, content };
}

const LOOKALIKES: Readonly<Record<string, string>> = {
  '<': '‹〈⟨❮❬˂ᐸ',
  '>': '›〉⟩❯❭˃ᐳ',
  '/': '∕⁄⧸╱',
  '|': '│∣ǀ',
  u: 'ʋυս',
  n: 'ոɴ',
  t: 'тτᴛ',
  r: 'гᴦʀ',
  s: 'ѕꜱ',
  e: 'еᴇ',
  d: 'ԁᴅ',
};

/**
 * Returns the text as the most gullible reader would see it: without invisible characters, with
 * escapes decoded and lookalikes replaced, in lower case. Written independently of the code that
 * marks.
 */
export function gullibly(text: string): string {
  let seen = text;
  for (let round = 0; round < 3; round += 1) {
    seen = seen
      .replace(/&(amp|lt|gt|sol|bsol|quot);?/gi, (_, name) => ENTITIES[name.toLowerCase()] ?? '')
      .replace(/&#0*(\d{1,6});?/g, (_, code) => String.fromCodePoint(Number(code)))
      .replace(/&#x0*([0-9a-f]{1,5});?/gi, (_, code) => hexadecimal(code))
      .replace(/\\u\{?0*([0-9a-f]{2,5})\}?/gi, (_, code) => hexadecimal(code))
      .replace(/\\x([0-9a-f]{2})/gi, (_, code) => hexadecimal(code))
      .replace(/%([0-7][0-9a-f])/gi, (_, code) => hexadecimal(code));
  }
  seen = seen
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}\p{Cc}\p{DI}]/gu, (c) => (/\s/.test(c) ? c : ''));
  for (const [ascii, lookalikes] of Object.entries(LOOKALIKES)) {
    for (const lookalike of lookalikes) seen = seen.replaceAll(lookalike, ascii);
  }
  return seen.toLowerCase();
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  sol: '/',
  bsol: '\\',
  quot: '"',
};

function hexadecimal(code: string): string {
  return String.fromCodePoint(Number.parseInt(code, 16));
}

const NAME = [...'untrusted'].join('\\s*');
const CLOSING = new RegExp(`<[\\s!?]*[/\\\\][\\s!?/\\\\]*${NAME}(?![a-z0-9])`);
const OPENING = new RegExp(`<${NAME}[\\s/>]|<\\s*${NAME}(?:\\s*/?\\s*>|\\s+(?:source|tool))`);

/** Returns the part of a text that a gullible reader would take for a mark, or `undefined`. */
export function forgedMarking(text: string): string | undefined {
  const seen = gullibly(text);
  return (CLOSING.exec(seen) ?? OPENING.exec(seen))?.[0];
}
