import type { OptionTable } from './options.js';

/** A program that runs the command in its operands. */
export interface Wrapper extends OptionTable {
  /** How many operands come before the command. */
  skip?: number;
  /** Whether assignments may come before the command. */
  assignments?: boolean;
  /** Options whose value is shell text. */
  text?: readonly string[];
  /** Whether unknown words are added at the end. */
  adds?: boolean;
  /** Options whose value is split into words, which come before the operands. */
  splits?: readonly string[];
  /** Options whose value is a text that is replaced in the operands by unknown words. */
  replaces?: readonly string[];
  /** Whether the operands, joined by spaces, are shell text. */
  joined?: boolean;
  /** Whether each of several operands may be a command line of its own. */
  several?: boolean;
  /** Options with which the operands are a command instead of shell text. */
  exact?: RegExp;
}

/** Programs that run other programs, by name. */
export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    short: 'ughpCcrtTUDR',
    long: [
      'user',
      'group',
      'host',
      'prompt',
      'close-from',
      'chdir',
      'chroot',
      'role',
      'type',
      'other-user',
      'command-timeout',
    ],
    flags: ['non-interactive', 'login', 'shell', 'stdin', 'background', 'askpass'],
    assignments: true,
  },
  doas: { short: 'uC' },
  pkexec: { long: ['user'] },
  runuser: { short: 'ugG', long: ['user', 'group', 'supp-group'], text: ['-c', '--command'] },
  su: { text: ['-c', '--command'], short: 'gGsw', long: ['group', 'shell'], skip: 99 },
  env: {
    short: 'uCa',
    long: ['unset', 'chdir', 'argv0'],
    flags: ['ignore-environment', 'null', 'debug'],
    assignments: true,
    dash: true,
    splits: ['-S', '--split-string'],
  },
  command: {},
  builtin: {},
  exec: { short: 'a' },
  nohup: {},
  nice: { short: 'n', long: ['adjustment'] },
  ionice: { short: 'cnpPu', long: ['class', 'classdata'], flags: ['ignore'] },
  chrt: { short: 'pTPD', skip: 1 },
  taskset: { skip: 1 },
  numactl: { short: 'NmCipl' },
  time: {
    assignments: true,
    short: 'fo',
    long: ['format', 'output'],
    flags: ['append', 'verbose', 'portability'],
  },
  timeout: {
    short: 'ks',
    long: ['kill-after', 'signal'],
    flags: ['foreground', 'preserve-status', 'verbose'],
    skip: 1,
  },
  gtimeout: {
    short: 'ks',
    long: ['kill-after', 'signal'],
    flags: ['foreground', 'preserve-status'],
    skip: 1,
  },
  stdbuf: { short: 'ioe', long: ['input', 'output', 'error'] },
  unbuffer: {},
  setsid: { flags: ['wait', 'fork', 'ctty'] },
  xargs: {
    short: 'IELdnPsa',
    long: ['arg-file', 'delimiter', 'max-args', 'max-procs', 'max-chars', 'process-slot-var'],
    flags: [
      'null',
      'no-run-if-empty',
      'verbose',
      'interactive',
      'exit',
      'replace',
      'max-lines',
      'eof',
    ],
    adds: true,
    replaces: ['-I', '-i', '--replace'],
  },
  watch: {
    short: 'nq',
    long: ['interval'],
    flags: ['color', 'differences', 'no-title', 'errexit', 'chgexit', 'beep', 'exec', 'precise'],
    joined: true,
    exact: /^(-[a-zA-Z]*x[a-zA-Z]*|--exec)$/,
  },
  strace: {
    short: 'eoOpsSuEaPXbIU',
    long: ['trace', 'output', 'attach', 'user', 'string-limit'],
    flags: ['follow-forks'],
  },
  ltrace: { short: 'eoOpsSuEaPlxnAF' },
  catchsegv: {},
  fakeroot: {},
  eatmydata: {},
  flock: {
    short: 'wEc',
    long: ['timeout', 'wait', 'conflict-exit-code'],
    flags: ['shared', 'exclusive', 'nonblock', 'nb', 'close', 'no-fork', 'verbose'],
    skip: 1,
    text: ['-c', '--command'],
  },
  chroot: { long: ['userspec', 'groups'], flags: ['skip-chdir'], skip: 1 },
  unshare: {
    short: 'SGRw',
    long: ['setuid', 'setgid', 'root', 'wd', 'map-user', 'map-group', 'propagation'],
    flags: [
      'mount',
      'uts',
      'ipc',
      'net',
      'pid',
      'user',
      'fork',
      'map-root-user',
      'map-current-user',
      'mount-proc',
    ],
  },
  nsenter: { short: 'tSG', long: ['target', 'setuid', 'setgid'] },
  'systemd-run': {
    short: 'pEuHMG',
    long: [
      'unit',
      'property',
      'description',
      'slice',
      'uid',
      'gid',
      'nice',
      'working-directory',
      'setenv',
    ],
    flags: ['user', 'scope', 'pty', 'wait', 'collect', 'quiet'],
  },
  'systemd-inhibit': { long: ['what', 'who', 'why', 'mode'] },
  dbus_run_session: {},
  'xvfb-run': { short: 'enfspw', flags: ['auto-servernum'] },
  script: {
    text: ['-c', '--command'],
    short: 'IOBTmoE',
    long: ['log-in', 'log-out', 'log-io', 'log-timing'],
    skip: 99,
  },
  busybox: {},
  toybox: {},
  proxychains: { short: 'f' },
  proxychains4: { short: 'f' },
  torify: {},
  torsocks: {},
  caffeinate: { short: 'tw' },
  arch: {},
  hyperfine: {
    short: 'wrmMpscPDLuSNn',
    long: [
      'warmup',
      'runs',
      'min-runs',
      'max-runs',
      'prepare',
      'setup',
      'cleanup',
      'conclude',
      'parameter-scan',
      'parameter-list',
      'shell',
      'export-json',
      'export-markdown',
      'export-csv',
      'time-unit',
      'command-name',
    ],
    joined: true,
    several: true,
    text: ['-p', '--prepare', '-s', '--setup', '-c', '--cleanup'],
  },
  concurrently: {
    short: 'nckrpwltm',
    long: ['names', 'prefix', 'prefix-colors', 'max-processes'],
    flags: ['kill-others', 'kill-others-on-fail', 'raw'],
    joined: true,
    several: true,
  },
  nodemon: { text: ['-x', '--exec'], short: 'wei', long: ['watch', 'ext', 'ignore'], skip: 99 },
  npx: {
    short: 'pc',
    long: ['package', 'call'],
    flags: ['yes', 'no', 'no-install', 'quiet'],
    text: ['-c', '--call'],
  },
  bunx: {},
  pnpx: {},
  'nix-shell': { text: ['--run', '--command'], short: 'pAIj', skip: 99 },
  uvx: { long: ['from', 'with', 'python'] },
  dotenv: { short: 'efv' },
  direnv: { skip: 2 },
  'cross-env': { assignments: true },
  'cross-env-shell': { assignments: true, joined: true, several: true },
  'dbus-run-session': {},
  shx: {},
  split: { text: ['--filter'], skip: 99 },
  gsplit: { text: ['--filter'], skip: 99 },
  install: { text: ['--strip-program'], skip: 99 },
  ginstall: { text: ['--strip-program'], skip: 99 },
  sort: { text: ['--compress-program'], skip: 99 },
  gsort: { text: ['--compress-program'], skip: 99 },
  man: { text: ['-P', '--pager', '-H', '--html'], skip: 99 },
  rg: { text: ['--pre', '--hostname-bin'], skip: 99 },
  bat: { text: ['--pager'], skip: 99 },
};

/** Matches programs that run others and have too many options: each word may be the command. */
export const SUFFIX_WRAPPERS =
  /^(ld(-linux[^/]*)?\.so(\.\d+)?|firejail|bwrap|proot|gosu|su-exec|setpriv|capsh|cpulimit|choom|cgexec|dbus-launch|screen|start-stop-daemon|daemonize|faketime|chronic|ts|nix|entr|gdb|lldb|perf|valgrind|prlimit|setarch|rlwrap|expect_unbuffer|linux(32|64)|i[3-6]86|x86_64|uname26|runcon|sg|newgrp|run0|tini|dumb-init|watchexec|ssh-agent|xterm|systemd-(cat|nspawn)|logsave|timelimit|abs|with-contenv|s6-.*)$/;

/** Matches those of these programs that also take shell text. */
export const SUFFIX_TEXT = /^(sg|newgrp|watchexec|xterm|entr|screen)$/;

/** Matches commands of bash that evaluate the subscripts of their operands. */
export const EVALUATES_SUBSCRIPTS =
  /^(let|test|\[|declare|typeset|local|readonly|export|read|unset|printf|getopts|wait)$/;

/** Subcommands of programs that run other programs, by program and subcommand. */
export const SUBCOMMAND_WRAPPERS: Readonly<Record<string, Readonly<Record<string, Wrapper>>>> = {
  npm: {
    exec: {
      short: 'cw',
      long: ['call', 'workspace', 'package'],
      flags: ['yes', 'no'],
      text: ['-c', '--call'],
    },
    x: { text: ['-c', '--call'], flags: ['yes'] },
  },
  pnpm: {
    exec: { short: 'c', flags: ['recursive', 'parallel'] },
    dlx: { long: ['package', 'allow-build'] },
  },
  yarn: { exec: { joined: true }, dlx: { short: 'p', long: ['package'] }, workspace: { skip: 1 } },
  bun: { x: {} },
  bundle: { exec: {} },
  poetry: { run: {} },
  pipenv: { run: {} },
  pdm: { run: {} },
  rye: { run: {} },
  hatch: { run: {} },
  uv: {
    run: {
      long: ['with', 'python', 'extra', 'group', 'package', 'env-file', 'project'],
      flags: ['frozen', 'locked', 'no-sync', 'quiet', 'offline'],
    },
  },
  conda: { run: { short: 'np', long: ['name', 'prefix'] } },
  direnv: { exec: { skip: 1 } },
  git: { bisect: { skip: 1 } },
  tmux: {
    'new-session': { short: 'sncxyFet', joined: true },
    new: { short: 'sncxyFet', joined: true },
    'new-window': { short: 'ncteF', joined: true },
    'split-window': { short: 'cteFlp', joined: true },
    'send-keys': { short: 'tN', joined: true },
    'run-shell': { short: 'bdt', joined: true },
  },
  cmake: { '-E': {} },
  jobs: { '-x': {} },
};
