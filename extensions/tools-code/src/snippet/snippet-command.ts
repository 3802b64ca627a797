import { chunksOf } from '../output/chunks.js';
import type { LanguageCommand } from './languages.js';

/** The kernel takes 131,072 bytes in one argument; a character has 3 bytes at most, or 4 as two. */
const CHUNK_CHARS = 30_000;

/** A snippet and what it reads. */
export interface Snippet {
  code: string;
  stdin?: string | undefined;
}

// Runs what the sandbox itself finds, in its own folder. A pipe is the input: no file shows it.
const SHELL = `
missing=$1 binary=$2 options=$3 file=$4 count=$5
shift 5
command -v "$binary" >/dev/null || { printf %s "$missing" >&2; exit 127; }
printf %s "\${@:1:count}" >"$file" || exit
shift "$count"
if [ $# -gt 0 ]; then exec "$binary" $options "$file" < <(printf %s "$@"); fi
exec "$binary" $options "$file"
`;

/**
 * Arguments for bash that run a snippet with an interpreter which the sandbox shows.
 *
 * @param missing what is written to standard error where it shows none
 */
export function shellArguments(
  { binary, options, file }: LanguageCommand,
  snippet: Snippet,
  missing: string,
): string[] {
  const { code, stdin } = partsOf(snippet);
  const about = [missing, binary, options.join(' '), file, String(code.length)];
  return ['--noprofile', '--norc', '-c', SHELL, 'run_code', ...about, ...code, ...stdin];
}

/** Arguments for the interpreter itself. */
export function starterArguments(
  starter: readonly string[],
  file: string,
  snippet: Snippet,
): string[] {
  const { code, stdin } = partsOf(snippet);
  return [...starter, file, String(code.length), ...code, ...stdin];
}

function partsOf({ code, stdin }: Snippet): { code: string[]; stdin: string[] } {
  return { code: chunksOf(code, CHUNK_CHARS), stdin: chunksOf(stdin ?? '', CHUNK_CHARS) };
}
