#!/usr/bin/env node
import { runCreate } from './run-create.js';
import { terminalQuestions } from './terminal-questions.js';

const { stdin, stdout, stderr, env } = process;

process.exitCode = await runCreate(process.argv.slice(2), {
  cwd: process.cwd(),
  out: (text) => void stdout.write(text),
  err: (text) => void stderr.write(text),
  userAgent: env.npm_config_user_agent,
  ...(stdin.isTTY && stdout.isTTY && { questions: terminalQuestions(stdin, stdout) }),
});
