import { clip } from './clip.js';

/** How to read the output of a kind of program. */
export interface OutputKind {
  name: 'tests' | 'install' | 'compiler' | 'git diff' | 'git log' | 'git status';
  /** Matches lines that identify the output. */
  knownBy: RegExp;
  /** Matches names in the command that identify the output. */
  command: RegExp;
  /** Matches lines that only say that everything is well. */
  noise: RegExp;
  /** Matches lines that sum up the run. */
  summary: RegExp;
  /** Whether failures are more important than everything else. */
  failuresFirst: boolean;
}

const NEVER = /(?!)/;

const KINDS: readonly OutputKind[] = [
  {
    name: 'tests',
    knownBy:
      /^\s*(?:(?:Tests?|Test Files|Test Suites)[: ]+\d|=+ test session starts =+|running \d+ tests?$|test result: |--- (?:PASS|FAIL): |TAP version \d+|# tests \d+|ℹ tests \d+|=+ .*\b(?:passed|failed)\b.* =+$|ok \s*\S+\s+[\d.]+s$)/,
    command:
      /\b(?:vitest|jest|mocha|ava|pytest|tox|node --test|(?:cargo|go|npm|pnpm|yarn|bun|deno|make|mvn|gradlew?)(?: run)? (?:-\S+ )*t(?:est)?)\b/,
    noise:
      /^\s*(?:✓|✔|√|☑|▶|PASS\b|ok \d+|# (?:Subtest|duration_ms)|duration_ms|type: 'test'|\.\.\.$|---$|1\.\.\d+$|test .* \.\.\. (?:ok|ignored)$|--- PASS:|=== (?:RUN|PAUSE|CONT)|ok\s+\S+\s+(?:[\d.]+s|\(cached\))|\?\s+\S+\s+\[no test files\]|\S+ PASSED\b|.*::\S+ PASSED|[\w./-]+\.py [.sx]+\s|[.sx]+(?:\s+\[\s*\d+%\])?$|RUN\s+v\d)/,
    summary:
      /^\s*(?:(?:Tests?|Test Files|Test Suites|Snapshots|Duration|Start at|Time)[: ]+|[#ℹ] (?:tests|suites|pass|fail|cancelled|skipped|todo) |test result: |=+ .*\b(?:passed|failed|error)|FAIL\b|\d+ (?:passing|failing|pending))/,
    failuresFirst: true,
  },
  {
    name: 'install',
    knownBy:
      /^(?:added \d+ packages|Packages: \+\d+|Progress: resolved|Collecting |Requirement already satisfied|Successfully installed|➤ YN0000|success Saved lockfile|up to date, audited|Lockfile is up to date|Reading package lists|\s+Compiling \S+ v\d)/,
    command:
      /\b(?:(?:npm|pnpm|yarn|bun) (?:-\S+ )*(?:i|ci|install|add|update|up)|pip3? install|uv (?:pip|sync|add)|poetry (?:install|add)|apt(?:-get)? install|cargo (?:build|fetch|install)|bundle install|brew install)\b/,
    noise:
      /^\s*(?:Collecting |Downloading |Downloaded |Using cached |Requirement already satisfied|Building wheel|Created wheel|Stored in directory|Preparing metadata|Installing build dep|Getting requirements|Progress: |Packages: [+-]|[+-]+$|Compiling \S+ v\d|Fresh |Unpacking |Selecting |Preparing to unpack|Setting up |Get:\d|Hit:\d|Processing triggers|➤ YN0013|➤ YN0000: [┌└]|npm (?:warn|WARN) deprecated|npm http |npm timing |info |[│├└]|━)/,
    summary:
      /^\s*(?:added \d|removed \d|changed \d|up to date|found \d|audited \d|\d+ packages|Successfully |Done in|dependencies:|devDependencies:|Finished |success )/,
    failuresFirst: true,
  },
  {
    name: 'compiler',
    knownBy:
      /(?:\(\d+,\d+\): (?:error|warning) TS\d+|^\s*\d+:\d+\s+(?:error|warning)\s|^error(?:\[E\d+\])?: |^warning: |:\d+:\d+: (?:fatal )?(?:error|warning|note): |:\d+:\d+: [EWFC]\d+ |:\d+:\d+ lint\/|Found \d+ errors?)/,
    command:
      /\b(?:tsc|eslint|biome|oxlint|ruff|mypy|pylint|flake8|rustc|clippy|cargo (?:check|build)|gcc|g\+\+|clang|cc|make|go (?:build|vet))\b/,
    noise:
      /^\s*(?:Compiling |Checking |Fresh |Finished |\[\s*\d+%\] (?:Building|Built|Linking)|make\[\d+\]: (?:Entering|Leaving)|Checked \d+ files? in)/,
    summary:
      /^\s*(?:Found \d+|✖ \d+ problems?|\d+ (?:errors?|warnings?|problems?)|All checks passed|Success: |error: could not compile|error: aborting)/,
    failuresFirst: true,
  },
  {
    name: 'git diff',
    knownBy: /^diff --git /,
    command: /\bgit (?:-\S+ )*(?:diff|show)\b/,
    noise: /^(?:index [0-9a-f]+\.\.|similarity index|old mode|new mode)/,
    summary: /^(?:diff --git |@@ | \d+ files? changed)/,
    failuresFirst: false,
  },
  {
    name: 'git log',
    knownBy: /^commit [0-9a-f]{7,40}/,
    command: /\bgit (?:-\S+ )*(?:log|reflog)\b/,
    noise: /^(?:Author: |Date: |Merge: |\s*$)/,
    summary: NEVER,
    failuresFirst: false,
  },
  {
    name: 'git status',
    knownBy: /^(?:On branch |HEAD detached at )/,
    command: /\bgit (?:-\S+ )*status\b/,
    noise: /^\s*(?:\(use "git|$)/,
    summary:
      /^(?:On branch|HEAD detached|Your branch|Changes |Untracked|Unmerged|nothing to commit|no changes)/,
    failuresFirst: false,
  },
];

const OTHER: Omit<OutputKind, 'name'> = {
  knownBy: NEVER,
  command: NEVER,
  noise: NEVER,
  summary: NEVER,
  failuresFirst: false,
};

// A name in a command may be anywhere, so it is looked for where names usually are.
const MAX_COMMAND_CHARS = 2000;

/** Finds the kind of an output: first by its lines, then by the command. */
export function kindOf(lines: readonly string[], command: string): Omit<OutputKind, 'name'> {
  for (const kind of KINDS) if (lines.some((line) => kind.knownBy.test(clip(line)))) return kind;
  const start = command.slice(0, MAX_COMMAND_CHARS);
  return KINDS.find((kind) => kind.command.test(start)) ?? OTHER;
}
