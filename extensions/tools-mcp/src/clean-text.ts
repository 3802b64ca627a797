const SHAPES_ARABIC_OR_INDIC = ['Arabic', 'Devanagari', 'Bengali', 'Malayalam', 'Sinhala', 'Tamil']
  .map((script) => `\\p{scx=${script}}`)
  .join('');
// Joiners and selectors without which an emoji or a word would be another one.
const NEEDED = [
  '\\u200D(?<=\\p{ExtPict}[\\uFE0F\\p{EMod}]?\\u200D)(?=\\p{ExtPict})',
  '[\\uFE0E\\uFE0F](?<=\\p{Emoji}[\\uFE0E\\uFE0F])',
  `[\\u200C\\u200D](?<=[${SHAPES_ARABIC_OR_INDIC}][\\u200C\\u200D])`,
].join('|');
// What a person would not see: zero-width and bidirectional marks, fillers, selectors, tags.
const UNSEEN = new RegExp(`(${NEEDED})|[\\p{DI}\\u2028\\u2029\\uFFF9-\\uFFFB]`, 'gu');
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences of terminals
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?/gs;
// The tokens by which model families mark roles, turns and calls of tools, after their bracket.
const ANGLE = [
  '[|｜][^\\s<>|｜]{1,80}[|｜]>',
  '[|｜](?:[a-z_]{3,40}|"[|｜])>',
  '[a-z_]{3,40}[|｜]>',
  '</?SYS>>',
  '/?(?:s|bos|eos|unk|pad|sop|eop)>',
  '/?(?:start|end|begin|beginning)_of_(?:turn|text|sentence|document|message|utterance|image|audio)>',
  '/?(?:start|end)_function_(?:call|declaration|response)>',
  '(?:fim_[a-z]{1,20}|(?:BOS|EOS|PAD|UNK)_TOKEN|_(?:system|user|bot))>',
  '(?:unused|reserved_|SPECIAL_|extra_id_)[0-9]{1,4}>',
  '/?(?:[a-z]{1,20}:)?(?:tool_(?:calls?|responses?|results?|outputs?|use|code)|function_(?:calls?|results?|responses?)|think(?:ing)?|tools|invoke|system-reminder)(?=[\\s/>])',
  '/?antml:[a-z_]',
  '(?:function|parameter)=[\\w.:-]{1,80}>',
].join('|');
const SQUARE =
  '/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|MODEL_SETTINGS|CALL_ID|THINK|gMASK)\\]';
const TEMPLATE = new RegExp(`<(?=${ANGLE})|\\[(?=${SQUARE})`, 'giu');

/** What in a text a person would not see, or a chat template would take for its own; or nothing. */
export function hiddenIn(text: string): string | undefined {
  if (!text.isWellFormed()) return 'half a character';
  if (text.search(CONTROLS) >= 0) return 'control characters';
  for (const [, needed] of text.matchAll(UNSEEN)) {
    if (needed === undefined) return 'characters that nobody sees';
  }
  return text.search(TEMPLATE) >= 0 ? "a chat template's token" : undefined;
}

/** A text of a server for a model or a person: no hidden characters, no chat-template tokens. */
export function cleanText(text: string, maxChars: number): string {
  const clean = text
    .toWellFormed()
    .slice(0, maxChars * 4)
    .replace(ESCAPES, '')
    .replace(CONTROLS, '')
    .replace(/\r\n?/g, '\n')
    .replace(UNSEEN, '$1')
    .replace(TEMPLATE, '‹')
    .trim();
  return shorten(clean, maxChars);
}

/** The same, on one line. */
export function cleanLine(text: string, maxChars: number): string {
  return cleanText(text.slice(0, maxChars * 8).replace(/\s+/g, ' '), maxChars);
}

/** The beginning of a text, never half a surrogate pair. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const cut = text.slice(0, Math.max(0, maxChars - 1));
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`;
}
