import { readFileSync } from 'node:fs';
import type { ProcessLimits } from '@ethosagent/types';

/** What a sandbox says on its standard error before a command is begun. */
export const READY = '\u0001ready\n';

/** The name under which the shell that begins a command complains of it. */
export const SHELL_NAME = 'ethos-sandbox';

/** What the host answers, on the standard input of the sandbox. */
export const GO = '\n';

const SHELL = '/bin/sh';

// A sandbox dies with its host by a signal that its first process asks for before it falls asleep,
// waiting for the others. Only then is the host asked to go on: one that died earlier can't answer,
// and nothing is begun.
const BEGIN = [
  "while read -r stat </proc/1/stat; do case $stat in *') S '*) break; esac; done",
  String.raw`printf '\001ready\n' >&2 && read -r go || exit; `,
].join('; ');

// A shell reads no further than the line of the answer: what follows is for the command.
const begin = (keepsInput: boolean) => (keepsInput ? BEGIN : `${BEGIN}exec </dev/null; `);

/** How the shell calls each limit, how `/proc/self/limits` does, and the units of both in ours. */
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
    // What is `-p` to dash and busybox is `-u` to bash.
    command: (value) => `ulimit -p ${value} 2>/dev/null || ulimit -u ${value}`,
    row: 'Max processes',
    shellUnits: 1,
    rowUnits: 1,
  },
];

/** What begins a command when the host has answered. */
export function beginning(keepsInput: boolean): string[] {
  return [SHELL, '-c', `${begin(keepsInput)}exec "$@"`, SHELL_NAME];
}

/** The same, and holds the command to limits. */
export function limitedBeginning(limits: ProcessLimits, keepsInput: boolean): string[] {
  return [SHELL, '-c', `${begin(keepsInput)}${limitCommands(limits)}exec "$@"`, SHELL_NAME];
}

/** What holds a command to limits. */
export function limited(limits: ProcessLimits): string[] {
  return [SHELL, '-c', `${limitCommands(limits)}exec "$@"`, SHELL_NAME];
}

let hostLimits: string | undefined;

// No limit is above the host's own, which could not be raised.
function limitCommands(limits: ProcessLimits): string {
  hostLimits ??= readFileSync('/proc/self/limits', 'latin1');
  const commands = ['ulimit -c 0'];
  for (const { name, command, row, shellUnits, rowUnits } of RESOURCES) {
    const wanted = limits[name];
    if (typeof wanted !== 'number' || !(wanted >= 0)) continue;
    const most = Math.min(wanted, hardLimit(hostLimits, row) / rowUnits);
    if (Number.isFinite(most)) commands.push(command(Math.floor(most * shellUnits)));
  }
  return `${commands.join('; ')}; `;
}

function hardLimit(table: string, row: string): number {
  const line = table.split('\n').find((each) => each.startsWith(`${row} `));
  const hard = line?.slice(row.length).trim().split(/\s+/)[1];
  return hard === undefined || hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
}
