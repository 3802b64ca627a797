import { oneLine } from './one-line.js';

const DROPPED: ReadonlySet<string> = new Set(['script', 'style', 'template']);

/** Returns a text without tags, with decoded entities and single spaces. */
export async function plainText(html: string, maxChars: number): Promise<string> {
  // Eight times the length is enough, unless the beginning is nearly all markup.
  const text = await withoutMarkup(html.slice(0, maxChars * 8));
  const plain = oneLine(text, maxChars + 1);
  return plain.length <= maxChars ? plain : `${oneLine(plain, maxChars - 1)}…`;
}

async function withoutMarkup(html: string): Promise<string> {
  if (!/[<&]/.test(html)) return html;
  const { Parser } = await import('htmlparser2');
  let text = '';
  let dropped = 0;
  const parser = new Parser({
    onopentagname: (name) => {
      if (DROPPED.has(name)) dropped += 1;
      // A tag between two words separates them, unless it is emphasis inside a word.
      else if (!/^(?:b|strong|em|i|mark|span|a)$/.test(name)) text += ' ';
    },
    onclosetag: (name) => {
      if (DROPPED.has(name)) dropped -= 1;
    },
    ontext: (part) => {
      if (dropped === 0) text += part;
    },
  });
  parser.end(html);
  return text;
}
