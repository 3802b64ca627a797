import { SPLIT, UNKNOWN } from '../marked-text.js';
import { readOperands } from '../options.js';
import { type InnerCommand, text } from './inner-command.js';

/** What GNU parallel runs: its operands as one line, once for each value after `:::`. */
export function ofParallel(args: readonly string[]): InnerCommand[] {
  const { readings } = readOperands(args, {
    short: 'jajSNnLdICsXPm',
    long: [
      'jobs',
      'arg-file',
      'colsep',
      'delay',
      'joblog',
      'results',
      'timeout',
      'retries',
      'sshlogin',
      'max-args',
    ],
    flags: [
      'keep-order',
      'bar',
      'progress',
      'eta',
      'dry-run',
      'verbose',
      'will-cite',
      'line-buffer',
      'ungroup',
      'no-notice',
      'null',
    ],
  });
  return readings.flatMap((reading): InnerCommand[] => {
    const end = reading.findIndex((word) => /^:::/.test(word));
    const command = end === -1 ? reading : reading.slice(0, end);
    const values = end === -1 ? [] : reading.slice(end + 1).filter((word) => !/^:::/.test(word));
    if (command.length === 0) return values.length === 0 ? [text(SPLIT)] : values.map(text);
    // Its operands are joined and given to a shell, with values that are quoted.
    const line = command.join(' ');
    const known = values.length > 0 && values.length <= 32;
    return (known ? values : [UNKNOWN]).map((value) =>
      text(/\{[^{}]*\}/.test(line) ? line.replaceAll(/\{[^{}]*\}/g, value) : `${line} ${value}`),
    );
  });
}
