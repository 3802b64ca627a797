import { isAbsolute } from 'node:path';

/**
 * How a binary is named: by its bare name, by its absolute path, or in a way that is not allowed.
 */
export type BinaryNameKind = 'bare' | 'absolute' | 'relative' | 'malformed';

/** Classifies the name of a binary, both when it is declared and when it is asked for. */
export function binaryNameKind(binary: unknown): BinaryNameKind {
  if (typeof binary !== 'string' || binary === '' || binary.includes('\0')) return 'malformed';
  if (isAbsolute(binary)) return 'absolute';
  // A relative path would depend on a directory that the model may choose.
  return /[/\\]|^\.{1,2}$/.test(binary) ? 'relative' : 'bare';
}
