import type { FileStyle } from './file-style.js';

/** A line of a result. */
export interface LaidLine {
  indent: string;
  key: string;
  /** The position of the line in the place, if the file has exactly this line. */
  keptAt?: number;
}

const OPENS = /(?:[{([]|=>|[^=!<>]=)$/;
/**
 * Matches a line that the next one continues. A table row of Markdown, with bars at both ends, does
 * not.
 */
const CONTINUES = /^[^|].*(?:[&|]|\\)$/;
const OPENS_BY_COLON =
  /^(?:if|for|while|def|class|try|else|elif|except|finally|with|match|async)\b.*:$/;
const CLOSES = /^(?:[})\]]|<\/|["'`]{3}|(?:end|fi|done|esac)\b)/;
/** Matches a line after which the next line may be deeper, or not. */
const MAY_OPEN =
  /[{([<:=>&|?+\\`]$|^(?:[-*+#>@]|\d+\.|\/\*\*(?!.*\*\/)|["'`]{3})|\b(?:then|do|else|begin|of|in)$/;
const STATEMENT =
  /^(?:if|for|while|return|export|import|const|let|type|interface|class|function|ifn?def|ifn?eq)\b.*[^;,}]$/;
const RULE = /^[\w.%$()/ -]+:(?!=)/;
const LIST_ITEM = /^(?:[-*+]|\d+\.) /;
/** Matches a line that may be deeper than the line before it. */
const MAY_BE_DEEPER = /^(?:[.?:&|*+<\-=]|(?:extends|implements|and|or|as|satisfies)\b)/;
/** The steps that count as usual when the file has no indented line yet. */
const USUAL_STEPS = new Set([2, 4]);

/**
 * Whether the layout of the new lines is plausible. That needs three things: a line is deeper than
 * the line before it only for a reason; after a line that opens a block comes a deeper one; all
 * lines are indented like the file.
 *
 * @param lines the new lines of a place, with the line before the place and the line after it
 */
export function isPlausible(lines: readonly LaidLine[], style: FileStyle): boolean {
  return lines.every((line, at) => {
    const before = lines[at - 1];
    if (line.keptAt === undefined && !isLike(line.indent, style)) return false;
    if (before === undefined) return true;
    const stay = line.keptAt !== undefined && before.keptAt === line.keptAt - 1;
    return stay || followsWell([lines[at - 2], before, line], style);
  });
}

/** Whether a line ends a block that an earlier line opens. */
export function closesBlock(key: string): boolean {
  return CLOSES.test(key);
}

function isLike(indent: string, { usesTabs, usesSpaces }: FileStyle): boolean {
  if (usesSpaces && !usesTabs && indent.includes('\t')) return false;
  return !(usesTabs && !usesSpaces && indent.startsWith('  '));
}

function followsWell(
  [earlier, before, line]: [LaidLine | undefined, LaidLine, LaidLine],
  style: FileStyle,
): boolean {
  const step = line.indent.length - before.indent.length;
  const both = before.indent + line.indent;
  if (/\t/.test(both) && / /.test(both)) return true;
  if (before.key.startsWith('/**') && line.key.startsWith('*')) return step === 1;
  if (step > 0) return mayBeDeeper(before, line, style);
  if (CONTINUES.test(before.key) && !CONTINUES.test(earlier?.key ?? '')) return false;
  return mayBeOutside(before, line, style);
}

function mayBeOutside(before: LaidLine, line: LaidLine, { columns }: FileStyle): boolean {
  const opens = OPENS.test(before.key) || OPENS_BY_COLON.test(before.key);
  if (opens) return CLOSES.test(line.key);
  if (line.indent === before.indent) return !/^[})\]]/.test(line.key);
  return line.key.startsWith('*') || columns.has(line.indent.length);
}

function mayBeDeeper(before: LaidLine, line: LaidLine, { steps }: FileStyle): boolean {
  const step = line.indent.length - before.indent.length;
  const isTabbed = line.indent.includes('\t');
  const mayOpen = MAY_OPEN.test(before.key) || STATEMENT.test(before.key);
  if (!mayOpen && !MAY_BE_DEEPER.test(line.key) && !(isTabbed && RULE.test(before.key)))
    return false;
  if (isTabbed || step === LIST_ITEM.exec(before.key)?.[0].length) return true;
  return steps.size === 0 ? USUAL_STEPS.has(step) : steps.has(step);
}
