#!/usr/bin/env node
import { runCreate } from './run-create.js';
import { terminalQuestions } from './terminal-questions.js';

const { stdin, stdout, stderr } = process;
// biome-ignore lint/style/noProcessEnv: the package manager says its name there
const agent = process.env.npm_config_user_agent ?? '';

process.exitCode = await runCreate(process.argv.slice(2), {
  cwd: process.cwd(),
  out: (text) => void stdout.write(text),
  err: (text) => void stderr.write(text),
  packageManager: /^(npm|pnpm|yarn|bun)\//.exec(agent)?.[1],
  ...(stdin.isTTY && stdout.isTTY && { questions: terminalQuestions(stdin, stdout) }),
});
