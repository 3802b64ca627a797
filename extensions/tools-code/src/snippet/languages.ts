/** What `run_code` runs. */
export type Language = 'python' | 'javascript' | 'bash';

/** How a language is run in a sandbox. */
export interface LanguageCommand {
  binary: 'python3' | 'node' | 'bash';
  /** Before the file. */
  options: readonly string[];
  /** The name of the file that holds the snippet. */
  file: string;
  /**
   * A program in the language itself that puts the snippet and its input into files and runs it:
   * for an interpreter that is not among the system's programs, where the shell can't see it. Its
   * arguments are the file, how many of the rest are the snippet, the snippet, the input.
   */
  starter?: readonly string[];
}

// What is printed is seen at once, also of a snippet whose time runs out.
const UNBUFFERED = '-u';

export const LANGUAGES: Readonly<Record<Language, LanguageCommand>> = {
  python: {
    binary: 'python3',
    options: [UNBUFFERED],
    file: 'main.py',
    starter: [
      UNBUFFERED,
      '-c',
      `
import os, sys
file, count, *parts = sys.argv[1:]
def put(name, chunks):
    with open(name, 'wb') as out:
        out.write(os.fsencode(''.join(chunks)))
put('/tmp/' + file, parts[:int(count)])
put('/tmp/.stdin', parts[int(count):])
os.dup2(os.open('/tmp/.stdin', os.O_RDONLY), 0)
os.unlink('/tmp/.stdin')
os.execv(sys.executable, [sys.executable, '-u', file])
`,
    ],
  },
  javascript: {
    binary: 'node',
    options: [],
    file: 'main.js',
    starter: [
      '-e',
      `
const { openSync, unlinkSync, writeFileSync } = require('node:fs');
const { spawnSync } = require('node:child_process');
const [file, count, ...parts] = process.argv.slice(1);
writeFileSync('/tmp/' + file, parts.slice(0, count).join(''));
writeFileSync('/tmp/.stdin', parts.slice(count).join(''));
const input = openSync('/tmp/.stdin');
unlinkSync('/tmp/.stdin');
const { status, signal, error } = spawnSync(process.execPath, [file], { stdio: [input, 1, 2] });
if (error) throw error;
if (signal) process.kill(process.pid, signal);
process.exit(status);
`,
    ],
  },
  bash: { binary: 'bash', options: ['--noprofile', '--norc'], file: 'main.sh' },
};
