import { plainLines } from '@ethosagent/policy';

const HEADING = /^ {0,3}##(?:[ \t]|$)/;
// Also in items of lists, however deep.
const FENCE =
  /^(?<lead>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?<mark>`{3,}(?=[^`]*$)|~{3,})(?<rest>.*)$/;
const COMMENT = /^ {0,3}<!--/;

/** What in the text of a section would make or hide other sections where the memory is shown. */
export interface SectionMarks {
  /** Lines `## …` that are not in a code fence. */
  headings: number;
  /** A code fence or a comment that nothing closes. */
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
      // To the left of its fence a line is out of it.
      if (line.search(/#/) < fence.indent) headings += 1;
      else inFence += 1;
    }
  }
  // A fence that nothing closes hides nothing from who reads the text as it is.
  if (fence !== undefined) headings += inFence;
  return { headings, isOpen: fence !== undefined || isComment };
}
