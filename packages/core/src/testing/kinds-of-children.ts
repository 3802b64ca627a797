const SLEEPER = 'sh -c "sleep 3600; :" "$1"';
const STUBBORN = 'sh -c "trap \\"\\" TERM; while :; do sleep 1; done" "$1"';

/** Leaves its session and its pipes, and has no parent. The shell goes on when it has begun. */
const daemon = (program: string) =>
  `setsid sh -c '${program} & exit 0' sh "$1" >/dev/null 2>&1 </dev/null; exit 0`;

/** How a host starts a child: for a call, in the background, or to be talked to as a service does. */
export type Door = 'spawn' | 'start' | 'open';

/** A kind of child that a host has when it ends. `$1` of the program is the mark of its processes. */
export interface KindOfChild {
  kind: string;
  door: Door;
  program: string;
  /** Its program is another host, which has one of each kind itself. */
  isHost?: boolean;
  /** Stands for its kind in a check. */
  inCheck?: boolean;
}

export const KINDS_OF_CHILDREN: readonly KindOfChild[] = [
  { kind: 'foreground', door: 'spawn', program: `${SLEEPER}; :`, inCheck: true },
  { kind: 'background', door: 'start', program: `${SLEEPER}; :`, inCheck: true },
  { kind: 'service', door: 'open', program: `cat; ${SLEEPER}; :`, inCheck: true },
  { kind: 'traps-term', door: 'spawn', program: `${STUBBORN} & ${STUBBORN}`, inCheck: true },
  { kind: 'exec-without-environment', door: 'spawn', program: `exec env -i ${SLEEPER}` },
  { kind: 'without-environment', door: 'spawn', program: `env -i ${STUBBORN}`, inCheck: true },
  { kind: 'session', door: 'spawn', program: `setsid ${SLEEPER} & wait` },
  { kind: 'stubborn-session', door: 'start', program: `setsid ${STUBBORN} & wait` },
  { kind: 'daemon', door: 'spawn', program: daemon(SLEEPER), inCheck: true },
  { kind: 'stubborn-daemon', door: 'start', program: daemon(STUBBORN) },
  {
    kind: 'session-without-environment',
    door: 'spawn',
    program: `env -i setsid ${STUBBORN} & wait`,
    inCheck: true,
  },
  {
    kind: 'daemon-without-environment',
    door: 'spawn',
    program: `env -i ${daemon(STUBBORN)}`,
    inCheck: true,
  },
  {
    kind: 'child-of-a-daemon',
    door: 'start',
    program: daemon(`(env -i ${SLEEPER} 3>&-; :)`),
    inCheck: true,
  },
  {
    kind: 'forks-on',
    door: 'spawn',
    program: 'while :; do sh -c "sleep 0.3; :" "$1" & sleep 0.02; done',
  },
  {
    kind: 'starts-another-at-term',
    door: 'spawn',
    program: `trap 'setsid ${STUBBORN} & sleep 5' TERM; ${SLEEPER} & wait`,
    inCheck: true,
  },
  { kind: 'nested', door: 'spawn', program: '', isHost: true, inCheck: true },
];
