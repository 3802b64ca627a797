import { describe, expect, it } from 'vitest';
import { commandPolicySchema } from './policy-settings.js';

const parse = (command: string) =>
  commandPolicySchema.safeParse({ rules: [{ command, decision: 'deny' }] });

describe('the pattern of a rule', () => {
  it.each([
    ['', 'is empty'],
    ['   ', 'is empty'],
    ['wget * | tar', 'shell syntax'],
    ['git add && git commit', 'shell syntax'],
    ['make;', 'shell syntax'],
    ['sleep 1 &', 'shell syntax'],
    ['(ls)', 'shell syntax'],
    ['cat < x', 'shell syntax'],
    ['echo $(date)', 'shell syntax'],
    ['echo ${x}', 'shell syntax'],
    ['echo `date`', 'shell syntax'],
    ['npm run "deploy"', 'is quoted'],
    ["grep 'a b'", 'is quoted'],
    ['rm \\*', 'is quoted'],
    ['FOO=1 make', 'assignment'],
    ['>> *.env', 'begins with `>` alone'],
    ['echo >> .env', 'begins with `>` alone'],
    ['echo x > .env', 'begins with `>` alone'],
    ['> a > b', 'second `>`'],
  ])('%j is refused, since it could match nothing: %s', (command, problem) => {
    const parsed = parse(command);
    expect(parsed.error?.issues.map(({ message }) => message).join()).toContain(problem);
    expect(parsed.error?.issues[0]?.path).toEqual(['rules', 0, 'command']);
  });

  it.each([
    'git push * --force',
    '*',
    '> *.env',
    'npm run deploy:*',
    './deploy.sh',
    'dd of=*',
    '[ -f',
  ])('%j is taken', (command) => expect(parse(command).success).toBe(true));
});
