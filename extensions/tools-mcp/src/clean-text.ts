import {
  foldLookalikes,
  hasControls,
  hasInvisible,
  modelTokens,
  plainLines,
  takeStart,
  withoutControls,
  withoutEscapes,
  withoutInvisible,
} from '@ethosagent/policy';

/** What in a text a person would not see, or a chat template would take for its own; or nothing. */
export function hiddenIn(text: string): string | undefined {
  if (!text.isWellFormed()) return 'half a character';
  if (hasControls(text)) return 'control characters';
  if (hasInvisible(text) || /[\u2028\u2029]/.test(text)) return 'characters that nobody sees';
  return modelTokens(foldLookalikes(text)).next().done ? undefined : "a chat template's token";
}

/** A text of a server for a model or a person: no hidden characters, no chat-template tokens. */
export function cleanText(text: string, maxChars: number): string {
  const start = takeStart(text, maxChars * 4).toWellFormed();
  const visible = withoutInvisible(plainLines(withoutControls(withoutEscapes(start))));
  return shorten(withoutModelTokens(visible).trim(), maxChars);
}

function withoutModelTokens(text: string): string {
  const parts: string[] = [];
  let done = 0;
  for (const at of [...new Set(modelTokens(foldLookalikes(text)))].sort((a, b) => a - b)) {
    parts.push(text.slice(done, at), '‹');
    done = at + String.fromCodePoint(text.codePointAt(at) ?? 0).length;
  }
  return parts.join('') + text.slice(done);
}

/** The same, on one line. */
export function cleanLine(text: string, maxChars: number): string {
  return cleanText(text.slice(0, maxChars * 8).replace(/\s+/g, ' '), maxChars);
}

/** At most so many characters, the mark of the cut among them. */
export function shorten(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${takeStart(text, maxChars - 1)}…`;
}
