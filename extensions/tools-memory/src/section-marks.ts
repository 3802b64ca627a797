import { plainLines } from '@ethosagent/policy';

const HEADING = /^ {0,3}##(?:[ \t]|$)/;
// A mark also counts inside nested items of lists.
const FENCE =
  /^(?<lead>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?<mark>`{3,}(?=[^`]*$)|~{3,})(?<rest>.*)$/;
const COMMENT = /^ {0,3}<!--/;

/**
 * Marks in the text of a section. When the memory is shown, they would begin another section, or
 * hide one.
 */
export interface SectionMarks {
  /** The number of lines `## …` outside code fences. */
  headings: number;
  /** Whether a code fence or a comment is not closed. */
  isOpen: boolean;
}

export function sectionMarks(text: string): SectionMarks {
  let headings = 0;
  let inFence = 0;
  let fence: { mark: string; indent: number } | undefined;
  let isComment = false;
  for (const line of plainLines(text).split('\n')) {
    const { lead = '', mark = '', rest = '' } = FENCE.exec(line)?.groups ?? {};
    const isHeading = HEADING.test(line);
    if (isComment) {
      isComment = !line.includes('-->');
      if (isHeading) headings += 1;
    } else if (fence === undefined) {
      isComment = COMMENT.test(line) && !line.includes('-->');
      if (isHeading) headings += 1;
      if (mark !== '') fence = { mark, indent: lead.length };
      inFence = 0;
    } else if (mark.startsWith(fence.mark) && rest.trim() === '') {
      fence = undefined;
    } else if (isHeading) {
      // A line that is indented less than its fence is outside of the fence.
      if (line.search(/#/) < fence.indent) headings += 1;
      else inFence += 1;
    }
  }
  // Whoever reads the raw text sees what is below an open fence, so headings there count.
  if (fence !== undefined) headings += inFence;
  return { headings, isOpen: fence !== undefined || isComment };
}
