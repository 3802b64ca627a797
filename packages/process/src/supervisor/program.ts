import { SUPERVISED_LIMIT_VARIABLE, SUPERVISOR_VARIABLE } from '../process-marks.js';

/**
 * The supervisor of one host, in a process of its own:
 * `node -e SUPERVISOR <tag> <grace> <group> <mark> <limit>`. It reads its standard input to the
 * end, which comes when the host ends in any way. Then it ends what is left of the host's
 * processes: TERM first, KILL after the grace time. The program is a text because the bundler of a
 * host does not change a text.
 *
 * - `<tag>`: the start of a variable in the environment of the host's processes, e.g.
 *   `ETHOS_CALL_TAG=<id>.`
 * - `<group>`: the process group of the host itself; 0 if it is not known
 * - `<mark>`: where descriptor 3 of the host's processes leads; empty if there is no such mark
 * - `<limit>`: the lowest limit of file locks of the host's processes, whose low 32 bits count the
 *   processes; empty if there is no such mark
 * - a line `+<pid>` on the standard input adds the leader of a group and a session, `-<pid>`
 *   removes it when its whole group is gone
 */
export const SUPERVISOR = `
const { readFileSync, readdirSync, readlinkSync, readSync } = require('node:fs');
const [tag, grace, group, mark, limit] = process.argv.slice(1);
const MAX_MS = 60_000;
process.title = 'ethos-supervisor';

// Its host is what ends it, not who ends all at once.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM']) {
  try {
    process.on(signal, () => {});
  } catch {}
}

const quietly = (run, otherwise) => {
  try {
    return run();
  } catch {
    return otherwise;
  }
};
const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

// When a process began, by its id: an id may be another's later.
const leaders = new Map();
const ours = new Map();

const environmentOf = (pid) =>
  quietly(() => '\\0' + readFileSync('/proc/' + pid + '/environ', 'latin1'), '');
const statOf = (pid) => {
  const text = quietly(() => readFileSync('/proc/' + pid + '/stat', 'latin1'), '');
  const [state, parent, group, session, ...rest] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ');
  if (rest.length < 16 || state === 'Z' || state === 'X') return undefined;
  return { pid, parent: +parent, group: +group, session: +session, start: rest[15] };
};
const startOf = (pid) => quietly(() => statOf(pid)?.start);

const buffer = Buffer.alloc(65_536);
let text = '';
for (;;) {
  let length;
  try {
    length = readSync(0, buffer);
  } catch (error) {
    if (error.code !== 'EAGAIN' && error.code !== 'EINTR') break;
    sleep(50);
    continue;
  }
  if (length === 0) break;
  const lines = (text + buffer.toString('latin1', 0, length)).split('\\n');
  text = lines.pop();
  for (const line of lines) {
    const pid = Number(line.slice(1));
    if (!(pid > 1)) continue;
    if (line[0] === '+') leaders.set(pid, startOf(pid));
    else leaders.delete(pid);
  }
}

const began = performance.now();
const isOver = (ms) => performance.now() - began > ms;
const signalled = new Set();

/** Whether a signal was sent, to this very process. */
const send = (pid, start, signal) =>
  startOf(pid) === start && quietly(() => process.kill(pid, signal), false);

/** Whether a leader began the group: while it is there, nobody but its leader has its id. */
const isLed = (id) => {
  if (!leaders.has(id)) return false;
  const start = startOf(id);
  return start === undefined || start === leaders.get(id);
};

const isTagged = (pid) => environmentOf(pid).includes('\\0' + tag);
const hostPart = (limit) => BigInt(limit) >> 32n;
const MIN_PART = 2n ** 16n;
const limited = new Set(limit === '' ? [] : [hostPart(limit)]);
const isLimited = (pid) => {
  if (limited.size === 0) return false;
  const limits = quietly(() => readFileSync('/proc/' + pid + '/limits', 'latin1'), '');
  const hard = /^Max file locks +\\d+ +(\\d+)/m.exec(limits)?.[1];
  return hard !== undefined && limited.has(hostPart(hard));
};
const isMarked = (pid) =>
  (mark !== '' && quietly(() => readlinkSync('/proc/' + pid + '/fd/3'), '') === mark) ||
  isLimited(pid);

/** Whether a process supervises a host within this one: it ends what is that one's, and then itself. */
const isSupervisor = (pid) => environmentOf(pid).includes('\\0${SUPERVISOR_VARIABLE}=');

const hostTag = tag.slice(tag.indexOf('=') + 1);
/** Learns by what limit the processes of a host within this one are known: its own supervisor may be slow, or gone by then. */
function learnFrom(pid) {
  const environment = environmentOf(pid);
  if (!environment.includes('\\0${SUPERVISOR_VARIABLE}=' + hostTag)) return;
  const told = /\\0${SUPERVISED_LIMIT_VARIABLE}=(\\d{1,20})\\0/.exec(environment)?.[1];
  if (told !== undefined && hostPart(told) >= MIN_PART) limited.add(hostPart(told));
}

/** Counts a process as one of the host's, and with it the session and the group that it began or was left in. */
function claim(stat) {
  const { pid, start } = stat;
  ours.set(pid, start);
  if (stat.session === pid || stat.group === pid) leaders.set(pid, start);
  const isLeft = stat.group !== Number(group) && startOf(stat.group) === undefined;
  if (isLeft && !leaders.has(stat.group)) leaders.set(stat.group, undefined);
}

/** Finds all that are left. One that forks and leaves is gone a moment later: it is told of at once. */
function look(found) {
  const others = [];
  // Those of this look: an id of an earlier one may be another's now.
  const there = new Set();
  // In this order, a child comes before who started it.
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && pid !== process.pid)
    .sort((a, b) => b - a);
  for (const pid of pids) {
    const tagged = isTagged(pid);
    const stat = statOf(pid);
    learnFrom(pid);
    if (stat === undefined || (!isOver(1_000) && isSupervisor(pid))) continue;
    const known = tagged || ours.get(pid) === stat.start || isMarked(pid);
    if (known || isLed(stat.group) || isLed(stat.session)) {
      there.add(pid);
      claim(stat);
      found(stat);
    } else others.push(stat);
  }
  // Their children, and the children of those, that show nothing themselves.
  for (let more = true; more; ) {
    more = false;
    for (const stat of others) {
      if (there.has(stat.pid) || !there.has(stat.parent)) continue;
      there.add(stat.pid);
      claim(stat);
      found(stat);
      more = true;
    }
  }
}

// No process forks past a signal that its group gets.
const killGroups = () => {
  for (const id of leaders.keys()) if (isLed(id)) quietly(() => process.kill(-id, 'SIGKILL'));
};

/** Ends one that is another process at each look, by its group: the newest ones are looked at alone. */
function endRelays() {
  let ended = 0;
  for (let at = 0; at < 50; at++) {
    const newest = Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1));
    for (let pid = newest; pid > newest - 3; pid--) {
      if (!isTagged(pid) && !isMarked(pid)) continue;
      const stat = statOf(pid);
      if (stat === undefined) continue;
      claim(stat);
      killGroups();
      ended += 1;
    }
  }
  return ended;
}

function endAll() {
  // As many looks as find nothing, each a while after the last: a process may be born in a look.
  const pauses = [10, 40, 160];
  for (let calm = 0; calm <= pauses.length && !isOver(MAX_MS); ) {
    let left = 0;
    const isLate = isOver(Number(grace));
    if (isLate) killGroups();
    look(({ pid, start }) => {
      if (isLate) left += send(pid, start, 'SIGKILL') ? 1 : 0;
      else {
        const id = pid + ' ' + start;
        if (signalled.has(id) || send(pid, start, 'SIGTERM')) left += 1;
        signalled.add(id);
      }
    });
    if (isLate || left === 0) left += endRelays();
    calm = left === 0 ? calm + 1 : 0;
    if (left === 0) sleep(pauses[calm - 1] ?? 0);
    else sleep(isLate ? (isOver(2_000) ? 100 : 1) : 20);
  }
}

/** Without /proc, by groups alone; where there are none, by processes. */
function endGroups() {
  const sendAll = (signal) => {
    for (const pid of leaders.keys()) {
      quietly(() => process.kill(process.platform === 'win32' ? pid : -pid, signal));
    }
  };
  if (leaders.size === 0) return;
  sendAll('SIGTERM');
  sleep(Number(grace));
  sendAll('SIGKILL');
}

if (process.platform === 'linux' && quietly(() => readdirSync('/proc/self').length, 0) > 0) endAll();
else endGroups();
`;
