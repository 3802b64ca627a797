import { oneLine } from './one-line.js';

const DROPPED: ReadonlySet<string> = new Set(['script', 'style', 'template']);

/** Text without HTML: tags out, entities decoded, white space as one space. */
export async function plainText(html: string, maxChars: number): Promise<string> {
  // What is cut off could only be longer than what is kept by its markup.
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
      // Two words that only a tag parts are two words, except within a word's emphasis.
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
