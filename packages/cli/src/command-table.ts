import type { CommandSpec } from './command-spec.js';

const CALL = ['<call>', 'its number in the list, or its id'] as const;
const OF_SESSION = ['--session <id>', 'its session, where several have a call of this id'] as const;
const REASON = ['--reason <text>', 'why; the model reads it'] as const;

/** The commands, in the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'init',
    summary: 'write a home with a personality, and a tool with its test',
    args: [['[name]', 'make a new folder of this name, with a project']],
    options: [
      ['--template <template>', 'of the new project: agent, tool, mcp-server or plugin'],
      ['--yes', 'ask nothing'],
    ],
    load: () => import('./commands/init.js'),
  },
  {
    name: 'check',
    summary: 'find what would fail at the first call',
    options: [['--strict', 'exit with 1 for warnings too']],
    load: () => import('./commands/check.js'),
  },
  {
    name: 'reach',
    summary: 'show what each tool may touch',
    args: [['[tool]', 'only this tool']],
    options: [
      ['--all', 'also the tools that the personality does not offer'],
      ['--html', 'write it as a page that needs no other file'],
      ['--sarif', 'write it as SARIF, for code scanning'],
    ],
    load: () => import('./commands/reach.js'),
  },
  {
    name: 'lock',
    summary: 'write down what each tool may touch, or compare with what was written',
    options: [
      ['--check', 'compare, and exit with 1 where a tool may touch more'],
      ['--file <file>', 'the lock; else reach.lock in the home'],
      ['--sarif', 'with --check: write SARIF, for code scanning'],
    ],
    load: () => import('./commands/lock.js'),
  },
  {
    name: 'tools',
    summary: 'list the tools of a personality',
    options: [['--all', 'also the tools that the personality does not offer']],
    load: () => import('./commands/tools.js'),
  },
  {
    name: 'call',
    summary: 'run one tool under a personality',
    args: [
      ['<tool>', 'the name of the tool'],
      ['[arguments]', 'its arguments as JSON; - reads them from standard input'],
    ],
    options: [
      ['--session <id>', 'the session of the call; a new one when absent'],
      ['--dry-run', 'say what would run, without effects'],
      ['--yes', 'approve the call without a question'],
    ],
    load: () => import('./commands/call.js'),
  },
  {
    name: 'record',
    summary: 'run a program, and show the least that its tools need',
    args: [['[command...]', 'the program with its arguments, after --']],
    options: [
      ['--session <id>', 'no program: what this session did'],
      ['--since <time>', 'no program: what was done since then, as 2026-05-01T08:00'],
      ['--write', 'change the files of the personalities, after a question for each'],
    ],
    load: () => import('./commands/record.js'),
  },
  {
    name: 'run',
    summary: 'run one turn of the agent',
    args: [['<prompt>', 'what it is to do; - reads it from standard input']],
    options: [
      ['--model <name>', 'provider/model of the AI SDK; else ETHOS_MODEL'],
      ['--session <id>', 'the session to go on with; a new one when absent'],
    ],
    load: () => import('./commands/run.js'),
  },
  {
    name: 'chat',
    summary: 'talk with the agent at the terminal',
    options: [
      ['--model <name>', 'provider/model of the AI SDK; else ETHOS_MODEL'],
      ['--session <id>', 'the session to go on with; a new one when absent'],
    ],
    load: () => import('./commands/chat.js'),
  },
  {
    name: 'approvals',
    summary: 'decide on calls that wait, from any process',
    children: [
      {
        name: 'list',
        summary: 'list the calls that wait, the oldest first',
        load: () => import('./commands/approvals-list.js'),
      },
      {
        name: 'show',
        summary: 'show what a call would do, and why it waits',
        args: [CALL],
        options: [OF_SESSION],
        load: () => import('./commands/approvals-show.js'),
      },
      {
        name: 'approve',
        summary: 'approve a call',
        args: [CALL],
        options: [
          ['--args <json>', 'run it with these arguments'],
          [
            '--always <scope>',
            'approve later calls too: of the session, these arguments, or the tool',
          ],
          REASON,
          OF_SESSION,
        ],
        load: () => import('./commands/approvals-approve.js'),
      },
      {
        name: 'edit',
        summary: 'approve a call with other arguments, typed or read from standard input',
        args: [CALL],
        options: [['--args <json>', 'run it with these arguments'], REASON, OF_SESSION],
        load: () => import('./commands/approvals-edit.js'),
      },
      {
        name: 'refuse',
        summary: 'refuse a call',
        args: [CALL],
        options: [REASON, OF_SESSION],
        load: () => import('./commands/approvals-refuse.js'),
      },
      {
        name: 'withdraw',
        summary: 'take a call out, decided or not, so that it never runs',
        args: [CALL],
        options: [OF_SESSION],
        load: () => import('./commands/approvals-withdraw.js'),
      },
    ],
  },
  {
    name: 'audit',
    summary: 'read and verify the audit log',
    children: [
      {
        name: 'tail',
        summary: 'show the newest events',
        options: [
          ['--lines <count>', 'so many; 20 when absent'],
          ['--follow', 'go on with those that are written, until Ctrl-C'],
        ],
        load: () => import('./commands/audit-tail.js'),
      },
      {
        name: 'grep',
        summary: 'show the events that match',
        args: [['[text]', 'a text in the target, the reason or the name of the tool']],
        options: [
          ['--session <id>', 'of this session'],
          ['--tool <name>', 'of this tool'],
          ['--host <host>', 'of this host'],
          ['--decision <decision>', 'allowed or denied'],
        ],
        load: () => import('./commands/audit-grep.js'),
      },
      {
        name: 'show',
        summary: 'show all events of one call, or of one session',
        args: [['<call>', 'the id of the call, or of the session']],
        load: () => import('./commands/audit-show.js'),
      },
      {
        name: 'verify',
        summary: 'check that no event was changed, added or removed',
        options: [['--database', 'in the database of --stores, with the key in ETHOS_AUDIT_KEY']],
        load: () => import('./commands/audit-verify.js'),
      },
    ],
  },
  {
    name: 'secrets',
    summary: 'keep the secrets of the home',
    children: [
      {
        name: 'set',
        summary: 'store a secret that is typed, or read from standard input',
        args: [['<ref>', 'its name, e.g. providers/exa/apiKey']],
        options: [
          [
            '--keychain',
            'in the keychain of the system; so it is for a new one, where there is one',
          ],
          ['--file', 'in a file of the home'],
        ],
        load: () => import('./commands/secrets-set.js'),
      },
      {
        name: 'list',
        summary: 'list the names of the secrets and where they are, never their values',
        load: () => import('./commands/secrets-list.js'),
      },
      {
        name: 'rotate',
        summary: 'replace a secret, and tell who uses it',
        args: [['<ref>', 'its name']],
        load: () => import('./commands/secrets-rotate.js'),
      },
      {
        name: 'remove',
        summary: 'remove a secret',
        args: [['<ref>', 'its name']],
        load: () => import('./commands/secrets-remove.js'),
      },
      {
        name: 'check',
        summary: 'find declared secrets that are missing or can not be used',
        load: () => import('./commands/secrets-check.js'),
      },
    ],
  },
  {
    name: 'sessions',
    summary: 'read and end sessions',
    children: [
      {
        name: 'list',
        summary: 'list the sessions, the newest first',
        options: [['--limit <count>', 'so many; 50 when absent']],
        load: () => import('./commands/sessions-list.js'),
      },
      {
        name: 'show',
        summary: 'show the messages of a session',
        args: [['<session>', 'its id']],
        load: () => import('./commands/sessions-show.js'),
      },
      {
        name: 'export',
        summary: 'write the messages of a session as Markdown or JSON lines',
        args: [['<session>', 'its id']],
        options: [['--format <format>', 'markdown, or jsonl; jsonl with --json']],
        load: () => import('./commands/sessions-export.js'),
      },
      {
        name: 'resume',
        summary: 'run what was approved in a session, or go on with its turn',
        args: [['<session>', 'its id']],
        options: [['--model <name>', 'provider/model of the AI SDK; else ETHOS_MODEL']],
        load: () => import('./commands/sessions-resume.js'),
      },
      {
        name: 'abandon',
        summary: 'end its unfinished turn, and keep the session',
        args: [['<session>', 'its id']],
        load: () => import('./commands/sessions-abandon.js'),
      },
      {
        name: 'end',
        summary: 'remove a session and what is stored of it',
        args: [['<session>', 'its id']],
        load: () => import('./commands/sessions-end.js'),
      },
    ],
  },
  {
    name: 'stores',
    summary: 'move the state of the home to a database',
    children: [
      {
        name: 'move',
        summary: 'copy it, read it back and compare; run again, it goes on',
        options: [
          ['--to <url>', 'postgresql://… or redis://…; else --stores, else ETHOS_STORES'],
          ['--replace', 'where the database has something else, take what the home has'],
        ],
        load: () => import('./commands/stores-move.js'),
      },
    ],
  },
  {
    name: 'mcp',
    summary: 'see and accept MCP servers',
    children: [
      {
        name: 'status',
        summary: 'show how each server stands, and what waits to be accepted',
        load: () => import('./commands/mcp-status.js'),
      },
      {
        name: 'diff',
        summary: 'show what changed since it was accepted, line by line',
        args: [['[server]', 'only of this server']],
        load: () => import('./commands/mcp-diff.js'),
      },
      {
        name: 'add',
        summary: 'write a server into mcp.json',
        args: [
          ['<server>', 'its name'],
          ['[command...]', 'its program and arguments, after --'],
        ],
        options: [
          ['--url <url>', 'of a server that is reached over HTTP'],
          ['--env <names>', 'variables that its program gets from secrets: NAME,OTHER'],
          ['--bearer <name>', 'the variable whose secret is its bearer token'],
          ['--yes', 'add it for all personalities that name no servers, without a question'],
        ],
        load: () => import('./commands/mcp-add.js'),
      },
      {
        name: 'remove',
        summary: 'remove a server from mcp.json',
        args: [['<server>', 'its name']],
        load: () => import('./commands/mcp-remove.js'),
      },
      {
        name: 'accept',
        summary: 'accept what changed since it was first seen',
        args: [
          ['<server>', 'the name of the server'],
          ['[tool]', 'only this tool'],
        ],
        options: [['--hash <hash>', 'only if it is still this, as status shows it']],
        load: () => import('./commands/mcp-accept.js'),
      },
    ],
  },
  {
    name: 'serve',
    summary: 'serve the tools of a personality to MCP clients',
    options: [
      ['--mcp', 'over the Model Context Protocol, on standard input and output'],
      ['--http', 'over HTTP on 127.0.0.1, with a bearer token'],
      ['--port <number>', 'of --http; a free one when absent'],
      ['--token-secret <ref>', 'the secret with the token; mcp-server/token when absent'],
      ['--session <id>', 'of the client on standard input; a new one when absent'],
    ],
    load: () => import('./commands/serve.js'),
  },
  {
    name: 'inspect',
    summary: 'open a page with what tools may touch, what they do, and what waits for an answer',
    options: [['--port <port>', 'on loopback; a free one when absent']],
    load: () => import('./commands/inspect.js'),
  },
  {
    name: 'doctor',
    summary: 'show what works on this machine, and what is left out',
    load: () => import('./commands/doctor.js'),
  },
  {
    name: 'completion',
    summary: 'write the completion script of a shell',
    args: [['<shell>', 'bash, zsh or fish']],
    load: () => import('./commands/completion.js'),
  },
];

/** Words that people type for a command, and the command. */
const WORDS: readonly (readonly [meant: string, words: readonly string[]])[] = [
  ['reach', ['explain', 'permissions', 'policy', 'capabilities']],
  ['check', ['validate', 'lint']],
  ['tools', ['ls']],
  ['init', ['new', 'create']],
  ['call', ['exec']],
  ['serve', ['start']],
  ['audit tail', ['log', 'logs', 'history']],
  ['approvals list', ['pending']],
  ['approvals refuse', ['deny', 'reject']],
];

/** Names that are no command, and what is meant: also those of commands below another one. */
export function otherNames(): Map<string, string> {
  const names = new Map<string, string>();
  for (const { name: parent, children = [] } of COMMANDS) {
    for (const { name } of children) {
      const others = names.get(name);
      const meant = `${parent} ${name}`;
      names.set(name, others === undefined ? meant : `${others}, or ${meant}`);
    }
  }
  for (const [meant, words] of WORDS) for (const word of words) names.set(word, meant);
  for (const { name } of COMMANDS) names.delete(name);
  return names;
}
