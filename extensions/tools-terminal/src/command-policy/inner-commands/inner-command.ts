/** A command that another command runs. */
export type InnerCommand =
  | {
      kind: 'words';
      words: readonly string[];
      /** Whether the words may not be a command at all. Then only problems in them count. */
      isGuess?: true;
    }
  | {
      kind: 'text';
      text: string;
      /** The words that were joined into the text, and so lost their quotes. */
      words?: readonly string[];
    };

/** Returns the text of a shell as what another command runs. */
export function text(value: string): InnerCommand {
  return { kind: 'text', text: value };
}

/** Returns the text that bash runs when it evaluates a word with a subscript. */
export function subscriptText(word: string): InnerCommand {
  return text(`: "${word.replaceAll('"', '')}"`);
}
