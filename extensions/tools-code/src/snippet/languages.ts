import { javascriptPrelude } from '../programs/javascript-prelude.js';
import { pythonPrelude } from '../programs/python-prelude.js';

/** The languages that `run_code` runs. */
export type Language = 'python' | 'javascript' | 'bash';

/** Code in the language that gives a snippet its tools. */
export interface Prelude {
  /** The name of the file with the code. */
  file: string;
  /** The options of the interpreter that load it, before the file of the snippet. */
  options: readonly string[];
  /** Returns the code. @param names the names of the tools */
  code(names: readonly string[]): string;
}

/** How to run a snippet of a language in a sandbox. */
export interface LanguageCommand {
  binary: 'python3' | 'node' | 'bash';
  /** Arguments of the interpreter, before the file. */
  options: readonly string[];
  /** The name of the file with the snippet. */
  file: string;
  /**
   * The code that gives a snippet its tools. Absent when snippets of the language can't call tools.
   */
  prelude?: Prelude;
  /**
   * A program in the language itself that writes the snippet and its input into files and runs the
   * snippet. It is for an interpreter that is not among the system's programs, so that the shell
   * can't see it. Its arguments, in order: the file; how many of the last arguments are the
   * snippet; the file of the prelude, or nothing; the prelude; the snippet; the input.
   */
  starter?: readonly string[];
}

// Output is not buffered, so it is not lost when the time runs out.
const UNBUFFERED = '-u';
const JAVASCRIPT_PRELUDE = '.tools.cjs';
const PYTHON_PRELUDE = '.tools.py';

export const LANGUAGES: Readonly<Record<Language, LanguageCommand>> = {
  python: {
    binary: 'python3',
    options: [UNBUFFERED],
    file: 'main.py',
    prelude: { file: PYTHON_PRELUDE, options: [PYTHON_PRELUDE], code: pythonPrelude },
    starter: [
      UNBUFFERED,
      '-c',
      `
import os, sys
file, count, prelude, code, *parts = sys.argv[1:]
def put(name, chunks):
    with open(name, 'wb') as out:
        out.write(os.fsencode(''.join(chunks)))
put('/tmp/' + file, parts[:int(count)])
put('/tmp/.stdin', parts[int(count):])
if prelude:
    put('/tmp/' + prelude, [code])
os.dup2(os.open('/tmp/.stdin', os.O_RDONLY), 0)
os.unlink('/tmp/.stdin')
os.execv(sys.executable, [sys.executable, '-u', *([prelude] if prelude else []), file])
`,
    ],
  },
  javascript: {
    binary: 'node',
    options: [],
    file: 'main.js',
    prelude: {
      file: JAVASCRIPT_PRELUDE,
      options: ['--require', `./${JAVASCRIPT_PRELUDE}`],
      code: javascriptPrelude,
    },
    starter: [
      '-e',
      `
const { openSync, unlinkSync, writeFileSync } = require('node:fs');
const { spawnSync } = require('node:child_process');
const [file, count, prelude, code, ...parts] = process.argv.slice(1);
writeFileSync('/tmp/' + file, parts.slice(0, count).join(''));
writeFileSync('/tmp/.stdin', parts.slice(count).join(''));
if (prelude) writeFileSync('/tmp/' + prelude, code);
const input = openSync('/tmp/.stdin');
unlinkSync('/tmp/.stdin');
const options = prelude ? ['--require', '/tmp/' + prelude] : [];
const stdio = [input, 1, 2, ...(prelude ? ['ignore', 4] : [])];
const { status, signal, error } = spawnSync(process.execPath, [...options, file], { stdio });
if (error) throw error;
if (signal) process.kill(process.pid, signal);
process.exit(status);
`,
    ],
  },
  bash: { binary: 'bash', options: ['--noprofile', '--norc'], file: 'main.sh' },
};
