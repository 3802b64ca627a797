import type { ProcessLimits } from '@ethosagent/types';

/** What a sandboxed process can be limited in. */
export const PROCESS_LIMITS = [
  'memory_mb',
  'processes',
  'cpu_seconds',
  'file_size_mb',
  'open_files',
] as const satisfies readonly (keyof ProcessLimits)[];

/** The limits of a sandboxed process that the operator does not set. Memory and time have none. */
export const DEFAULT_PROCESS_LIMITS = {
  processes: 512,
  open_files: 1024,
  file_size_mb: 1024,
} as const satisfies ProcessLimits;
