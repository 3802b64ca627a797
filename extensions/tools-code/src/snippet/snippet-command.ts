import { chunksOf } from '../output/chunks.js';
import type { LanguageCommand } from './languages.js';

/**
 * How many characters one argument may have. The kernel takes 131,072 bytes; a UTF-16 code unit has
 * 3 bytes at most.
 */
const CHUNK_CHARS = 30_000;

/** A snippet and its input. */
export interface Snippet {
  code: string;
  stdin?: string | undefined;
  /** The names of the tools that it may call. None when absent. */
  tools?: readonly string[] | undefined;
}

// The sandbox finds the interpreter itself. The input comes through a pipe, so no file contains it.
const SHELL = `
missing=$1 binary=$2 options=$3 file=$4 count=$5 prelude=$6
[ -z "$prelude" ] || printf %s "$7" >"$prelude" || exit
shift 7
command -v "$binary" >/dev/null || { printf %s "$missing" >&2; exit 127; }
printf %s "\${@:1:count}" >"$file" || exit
shift "$count"
if [ $# -gt 0 ]; then exec "$binary" $options "$file" < <(printf %s "$@"); fi
exec "$binary" $options "$file"
`;

/**
 * Returns the arguments for bash that run a snippet with an interpreter in the sandbox.
 *
 * @param missing the text to write to standard error when the sandbox has no such interpreter
 */
export function shellArguments(
  command: LanguageCommand,
  snippet: Snippet,
  missing: string,
): string[] {
  const { binary, file } = command;
  const { code, stdin } = partsOf(snippet);
  const { prelude, options } = preludeOf(command, snippet);
  const all = [...command.options, ...options].join(' ');
  const about = [missing, binary, all, file, String(code.length), ...prelude];
  return ['--noprofile', '--norc', '-c', SHELL, 'run_code', ...about, ...code, ...stdin];
}

/** Returns the arguments for the interpreter itself. */
export function starterArguments(
  starter: readonly string[],
  command: LanguageCommand,
  snippet: Snippet,
): string[] {
  const { code, stdin } = partsOf(snippet);
  const { prelude } = preludeOf(command, snippet);
  return [...starter, command.file, String(code.length), ...prelude, ...code, ...stdin];
}

/**
 * Returns the file and the text of the prelude of a snippet; both are empty when it has no tools.
 */
function preludeOf(
  { prelude }: LanguageCommand,
  { tools = [] }: Snippet,
): { prelude: [file: string, code: string]; options: readonly string[] } {
  if (prelude === undefined || tools.length === 0) return { prelude: ['', ''], options: [] };
  return { prelude: [prelude.file, prelude.code(tools)], options: prelude.options };
}

function partsOf({ code, stdin }: Snippet): { code: string[]; stdin: string[] } {
  return { code: chunksOf(code, CHUNK_CHARS), stdin: chunksOf(stdin ?? '', CHUNK_CHARS) };
}
