/** A shell program that tries to outlive its call. `$1` is the mark of its processes. */
export interface Lingerer {
  /** The action of the program, as the continuation of `a tree that`. */
  does: string;
  program: string;
  /**
   * Whether it leaves its group, its session and its environment, and lowers its limits. Only a
   * sandbox can end such a program.
   */
  untraceable?: boolean;
}

const SLEEPER = 'sh -c "sleep 60; :" "$1"';
const STUBBORN = 'sh -c "trap \\"\\" TERM; while :; do sleep 1; done" "$1"';
const NO_PIPES = '>/dev/null 2>&1 </dev/null';

export const LINGERERS: readonly Lingerer[] = [
  { does: 'waits', program: 'sh -c "sleep 60" "$1"' },
  { does: 'traps TERM', program: 'trap "" TERM; while :; do sleep 1; done # $1' },
  { does: 'has a grandchild that holds the pipe', program: `${SLEEPER} & ${SLEEPER}` },
  { does: 'left a grandchild that holds the pipe', program: `${SLEEPER} & exit 0` },
  { does: 'left a grandchild that traps TERM', program: `${STUBBORN} & exit 0` },
  { does: 'has a child in a session of its own', program: `setsid ${SLEEPER}; sleep 60` },
  {
    does: 'has a child in its own session that traps TERM',
    program: `setsid ${STUBBORN} & sleep 60`,
  },
  { does: 'left a child in its own session', program: `setsid ${SLEEPER} & sleep 0.2; exit 0` },
  { does: 'left a daemon', program: `setsid ${SLEEPER} ${NO_PIPES} & sleep 0.2; exit 0` },
  {
    does: 'left a daemon that traps TERM',
    program: `setsid ${STUBBORN} ${NO_PIPES} & sleep 0.2; exit 0`,
  },
  {
    does: 'left a daemon that forked twice',
    program: `setsid sh -c 'sh -c "sleep 60; :" "$1" & exit 0' sh "$1" ${NO_PIPES} & sleep 0.2; exit 0`,
  },
  {
    does: 'spawns a new child when TERM comes',
    program: `trap 'setsid ${SLEEPER} & sleep 5' TERM; ${SLEEPER} & wait`,
  },
  { does: 'floods both streams', program: 'while :; do echo $1; echo $1 >&2; done' },
  { does: 'keeps on forking', program: 'while :; do sh -c "sleep 0.3; :" "$1" & sleep 0.02; done' },
  {
    does: 'left a daemon without its environment',
    program: `env -i setsid ${SLEEPER} ${NO_PIPES} & sleep 0.2; exit 0`,
  },
  {
    does: 'left a daemon without environment, descriptors and parent',
    program: `env -i setsid -f ${STUBBORN} 3>&- ${NO_PIPES}; exit 0`,
  },
  {
    does: 'has a child that traps TERM, in its own session and without its environment',
    program: `env -i setsid ${STUBBORN} & sleep 60`,
  },
  {
    does: 'left a daemon without its environment that lowered its limits',
    program: `prlimit --locks=1:1 -- env -i setsid ${SLEEPER} ${NO_PIPES} & sleep 0.2; exit 0`,
    untraceable: true,
  },
];
