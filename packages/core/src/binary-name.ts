import { isAbsolute } from 'node:path';

/** What names a binary: its bare name or its absolute path, or something that may name none. */
export type BinaryNameKind = 'bare' | 'absolute' | 'relative' | 'malformed';

/** Judges the name of a binary, as it is declared and as it is asked for. */
export function binaryNameKind(binary: unknown): BinaryNameKind {
  if (typeof binary !== 'string' || binary === '' || binary.includes('\0')) return 'malformed';
  if (isAbsolute(binary)) return 'absolute';
  // Relative to what? To a directory that the model may choose.
  return /[/\\]|^\.{1,2}$/.test(binary) ? 'relative' : 'bare';
}
