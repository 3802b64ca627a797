const SLEEPER = 'sh -c "sleep 3600; :" "$1"';
const STUBBORN = 'sh -c "trap \\"\\" TERM; while :; do sleep 1; done" "$1"';

/**
 * Leaves its session and its pipes, and has no parent. The shell continues after it has started.
 */
const daemon = (program: string) =>
  `setsid sh -c '${program} & exit 0' sh "$1" >/dev/null 2>&1 </dev/null; exit 0`;

/**
 * The same without an environment and without the descriptor of its host, so that nothing shows
 * whose it is.
 */
const bareDaemon = (program: string) => `env -i ${daemon(`${program} 3>&-`)}`;

/** How many seconds the relay lives if nobody ends it. */
export const RELAY_SECONDS = 8;

// Ignores TERM and leaves its group. It forks and exits in a loop, so every look finds another
// process.
const RELAY = `
import os, signal, sys, time
folder = sys.argv[1].rsplit(":", 1)[0]
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.setsid() if os.fork() == 0 else time.sleep(60)
nothing = os.open("/dev/null", os.O_RDWR)
for descriptor in (0, 1, 2): os.dup2(nothing, descriptor)
end = time.time() + ${RELAY_SECONDS}
open(folder + "/begun", "w").close()
while time.time() < end:
    if os.fork(): os._exit(0)
open(folder + "/lived", "w").close()
`;

/**
 * How a host starts a child: for a call, in the background, as a service that exchanges messages
 * with it, or through a library that gets a command to start.
 */
export type Door = 'spawn' | 'start' | 'open' | 'prepare';

/**
 * A kind of child that a host has when it ends. `$1` of the program is the mark of its processes.
 */
export interface KindOfChild {
  kind: string;
  door: Door;
  program: string;
  /** Whether its program is another host, which itself has a child of each kind. */
  isHost?: boolean;
  /** Whether it represents its kind in a check. */
  inCheck?: boolean;
}

export const KINDS_OF_CHILDREN: readonly KindOfChild[] = [
  { kind: 'foreground', door: 'spawn', program: `${SLEEPER}; :`, inCheck: true },
  { kind: 'background', door: 'start', program: `${SLEEPER}; :`, inCheck: true },
  { kind: 'service', door: 'open', program: `cat; ${SLEEPER}; :`, inCheck: true },
  { kind: 'prepared', door: 'prepare', program: `setsid ${SLEEPER}; :`, inCheck: true },
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
  { kind: 'bare-daemon', door: 'spawn', program: bareDaemon(SLEEPER), inCheck: true },
  { kind: 'bare-daemon-of-a-service', door: 'open', program: bareDaemon(STUBBORN), inCheck: true },
  { kind: 'bare-background-daemon', door: 'start', program: bareDaemon(STUBBORN) },
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
  // It runs alone, since it uses up all process ids. Its mark is a folder.
  { kind: 'relay', door: 'spawn', program: `exec python3 -c '${RELAY}' "$1"` },
  { kind: 'nested', door: 'spawn', program: '', isHost: true, inCheck: true },
];
