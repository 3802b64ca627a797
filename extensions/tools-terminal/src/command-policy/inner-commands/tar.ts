import { valuesOf } from '../options.js';
import { type InnerCommand, text } from './inner-command.js';

/** What tar runs: programs that compress, and actions at checkpoints. */
export function ofTar(args: readonly string[]): InnerCommand[] {
  const values = [
    ...ofBundle(args),
    ...valuesOf(args, [
      '-I',
      '--use-compress-program',
      '--to-command',
      '--checkpoint-action',
      '-F',
      '--info-script',
      '--new-volume-script',
      '--rsh-command',
    ]),
  ];
  return values.flatMap((value) => {
    if (value.startsWith('exec=')) return [text(value.slice(5))];
    return /^(dot|echo|sleep|ttyout|totals|wait)/.test(value) ? [] : [text(value)];
  });
}

/**
 * Finds the programs among the values of `cIf program archive`, which are in the order of the
 * letters.
 */
function ofBundle([letters = '', ...values]: readonly string[]): string[] {
  if (letters.startsWith('-')) return [];
  const valued = [...letters].filter((letter) => 'bfgCIFHKLNTVX'.includes(letter));
  return values.filter((_, at) => /[IF]/.test(valued[at] ?? ''));
}
