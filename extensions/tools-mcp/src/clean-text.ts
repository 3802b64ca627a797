// Controls, soft hyphens, zero-width and bidirectional marks, separators, variation selectors of the
// supplement, and tags: what a person would not see, or a terminal would obey.
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences of terminals
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?/gs;
// A chat template's tokens, which a description of a tool must not bring into a prompt.
const TEMPLATE = /<\|(?=[a-z_]{1,40}\|>)|<(?=\/?s>)|\[(?=\/?INST\])|<(?=(?:start|end)_of_turn>)/gi;

/** A text of a server for a model or a person: no hidden characters, no chat-template tokens. */
export function cleanText(text: string, maxChars: number): string {
  const clean = text
    .toWellFormed()
    .slice(0, maxChars * 4)
    .replace(ESCAPES, '')
    .replace(UNSEEN, '')
    .replace(TEMPLATE, '‹')
    .trim();
  return shorten(clean, maxChars);
}

/** The beginning of a text, never half a surrogate pair. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const cut = text.slice(0, Math.max(0, maxChars - 1));
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`;
}
