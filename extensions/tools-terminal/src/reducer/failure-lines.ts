/*
 * What programs write in a line that tells of a failure. Too much is better than too little: a
 * line that only looks like one is kept longer than it must be.
 */
const FAILURE =
  /(?:error|fail|fatal|panic|exception|traceback|assert|abort|denied|refused|cannot|can't|could not|unable|undefined|unresolved|not found|no such|not ok|missing|conflict|killed|segmentation|core dumped|timed? ?out|invalid|unexpected|critical|✗|✘|×|✖|●|❌|⨯|^E\s|^\s*-+ ?expected|^\s*\++ ?received|^\+{3}|\bE\d{3,4}\b|ERR!|\bERR_[A-Z]|\*\*\* \[|^\s*\d+\) \S|\bexpected\b|\breceived:|\bfehler|\berreur|\bfixable\b|\bunreachable\b|\boom\b|\bTS\d{4}\b)/i;
const SUCCESS =
  /^(?:.*\b(?:0|no) (?:errors?|failed|failures?|failing|vulnerabilities)\b(?!.*\b[1-9]\d* (?:errors?|failed|failures?|failing))|# fail 0$|ℹ fail 0$)/i;

const WARNING = /\bwarn(?:ing)?s?\b|⚠/i;

const MAX_SUCCESS_CHARS = 200;

/** Whether a line may tell of a failure. */
export function tellsOfFailure(line: string): boolean {
  return FAILURE.test(line) && !(line.length < MAX_SUCCESS_CHARS && SUCCESS.test(line));
}

/** Whether a line is a warning. */
export function warns(line: string): boolean {
  return WARNING.test(line);
}

/** Returns the place where a line tells of a failure; -1 when it does not. */
export function failureIn(line: string): number {
  return line.search(FAILURE);
}
