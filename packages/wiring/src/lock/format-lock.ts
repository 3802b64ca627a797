import { yaml } from '../libraries.js';
import { lockSchema } from './lock-schema.js';
import { LOCK_VERSION, type ReachLock } from './reach-lock.js';

const HEADER = ` What the tools of these agents may touch. "ethosagent lock" writes this file, and
 "ethosagent lock --check" compares: review each change, and don't edit it by hand.`;

/**
 * Characters that a reader would not see, or that change how the others are displayed. The pattern
 * is a text, since a literal would be built, with its tables of Unicode, at every import.
 */
const UNSEEN = '[\\p{C}\\p{Zl}\\p{Zp}\\p{DI}]|(?! )\\p{Zs}';

/**
 * Writes the text of a lock. It is sorted, so equal locks give the same text. The texts of tools
 * are written unchanged, except that invisible characters are escaped.
 *
 * @param lock a lock with portable paths
 */
export function formatLock(lock: ReachLock): string {
  const unseen = new RegExp(UNSEEN, 'u');
  const { Document, isScalar, Scalar, visit } = yaml();
  // Parsing also sorts the keys.
  const ordered = lockSchema().parse({ version: LOCK_VERSION, ...lock });
  const document = new Document(ordered, { aliasDuplicateObjects: false });
  document.commentBefore = HEADER;
  visit(document, {
    Scalar(_, node) {
      if (!isScalar(node) || typeof node.value !== 'string') return;
      // A block of spaces and line ends alone can't be read back.
      const isBlank = /^[ \n]*$/.test(node.value);
      if (isBlank || unseen.test(node.value.replaceAll('\n', ''))) node.type = Scalar.QUOTE_DOUBLE;
      else if (node.value.includes('\n')) node.type = Scalar.BLOCK_LITERAL;
    },
  });
  const text = document.toString({ lineWidth: 0, doubleQuotedAsJSON: true });
  return text.replace(new RegExp(UNSEEN, 'gu'), (character) =>
    character === '\n' ? '\n' : escaped(character),
  );
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}
