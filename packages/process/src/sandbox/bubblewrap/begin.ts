import { readFileSync } from 'node:fs';
import type { ProcessLimits } from '@ethosagent/types';

/** What a sandbox writes to its standard error when it is ready to begin a command. */
export const READY = '\u0001ready\n';

/** The name under which the shell that begins a command reports errors. */
export const SHELL_NAME = 'ethos-sandbox';

/** The host's answer, on the standard input of the sandbox. */
export const GO = '\n';

const SHELL = '/bin/sh';

// The attack: a host dies while it starts a sandbox, and the sandbox runs on without it. The first
// process of a sandbox asks the kernel for a signal when the host dies. It does so before it sleeps
// and waits for the others. The shell waits until it sleeps, and only then asks the host to go on.
// A host that died before that can't answer, so nothing begins.
const BEGIN = [
  "while read -r stat </proc/1/stat; do case $stat in *') S '*) break; esac; done",
  String.raw`printf '\001ready\n' >&2 && read -r go || exit; `,
].join('; ');

// A shell reads no further than the end of that line: the rest is for the command.
const begin = (keepsInput: boolean) => (keepsInput ? BEGIN : `${BEGIN}exec </dev/null; `);

/**
 * For each limit: the command of the shell, the row of `/proc/self/limits`, and the units of both.
 */
const RESOURCES: ReadonlyArray<{
  name: keyof ProcessLimits;
  command: (value: number) => string;
  row: string;
  shellUnits: number;
  rowUnits: number;
}> = [
  {
    name: 'open_files',
    command: (value) => `ulimit -n ${value}`,
    row: 'Max open files',
    shellUnits: 1,
    rowUnits: 1,
  },
  {
    name: 'file_size_mb',
    command: (value) => `ulimit -f ${value}`,
    row: 'Max file size',
    shellUnits: 2048,
    rowUnits: 1024 ** 2,
  },
  {
    name: 'cpu_seconds',
    command: (value) => `ulimit -t ${value}`,
    row: 'Max cpu time',
    shellUnits: 1,
    rowUnits: 1,
  },
  {
    name: 'memory_mb',
    command: (value) => `ulimit -v ${value}`,
    row: 'Max address space',
    shellUnits: 1024,
    rowUnits: 1024 ** 2,
  },
  {
    name: 'processes',
    // The option is `-p` in dash and busybox, and `-u` in bash.
    command: (value) => `ulimit -p ${value} 2>/dev/null || ulimit -u ${value}`,
    row: 'Max processes',
    shellUnits: 1,
    rowUnits: 1,
  },
];

/** The command line that begins a command after the host has answered. */
export function beginning(keepsInput: boolean): string[] {
  return [SHELL, '-c', `${begin(keepsInput)}exec "$@"`, SHELL_NAME];
}

/** As `beginning`, with limits for the command. */
export function limitedBeginning(limits: ProcessLimits, keepsInput: boolean): string[] {
  return [SHELL, '-c', `${begin(keepsInput)}${limitCommands(limits)}exec "$@"`, SHELL_NAME];
}

/** The command line that runs a command with limits. */
export function limited(limits: ProcessLimits): string[] {
  return [SHELL, '-c', `${limitCommands(limits)}exec "$@"`, SHELL_NAME];
}

let hostLimits: string | undefined;

// A limit above the host's own can't be set, so the smaller one is used.
function limitCommands(limits: ProcessLimits): string {
  hostLimits ??= readFileSync('/proc/self/limits', 'latin1');
  const commands = ['ulimit -c 0'];
  for (const { name, command, row, shellUnits, rowUnits } of RESOURCES) {
    const wanted = limits[name];
    if (typeof wanted !== 'number' || !(wanted >= 0)) continue;
    const most = Math.min(wanted, hardLimit(hostLimits, row) / rowUnits);
    // Beyond what the system can count the shell would compute another, small limit.
    if (most * rowUnits < Number.MAX_SAFE_INTEGER)
      commands.push(command(Math.floor(most * shellUnits)));
  }
  return `${commands.join('; ')}; `;
}

function hardLimit(table: string, row: string): number {
  const line = table.split('\n').find((each) => each.startsWith(`${row} `));
  const hard = line?.slice(row.length).trim().split(/\s+/)[1];
  return hard === undefined || hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
}
