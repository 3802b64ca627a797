import { describe, expect, it } from 'vitest';
import type { Finding } from './command-policy/decision.js';
import { describeFindings } from './policy-answer.js';

const finding = (rule: string, command: string): Finding => ({
  decision: 'ask',
  rule,
  command,
  why: 'is bad',
});
const many = (count: number, rule: string) =>
  Array.from({ length: count }, (_, at) => finding(rule, `${rule}${at}`));

describe('describeFindings', () => {
  it('tells one of each rule before more of one, and counts the rest by rule', () => {
    const text = describeFindings([...many(9, 'a'), finding('b', 'x'), ...many(2, 'c')]);
    expect(text).toBe(
      '`a0` is bad (rule a); `x` is bad (rule b); `c0` is bad (rule c); `a1` is bad (rule a); `a2` is bad (rule a); and 7 more (6 of rule a, 1 of rule c)',
    );
  });

  it('hides no rule behind others', () => {
    const rules = Array.from({ length: 12 }, (_, at) => finding(`r${at}`, 'x'));
    const text = describeFindings([...many(50, 'a'), ...rules]);
    for (const { rule } of rules) expect(text).toContain(`(rule ${rule})`);
  });

  it.each([
    ['\u001b[1A\u001b[2K', '<U+001B>[1A<U+001B>[2K'],
    ['a\nb\rc', 'a<U+000A>b<U+000D>c'],
    ['\u202egpj.exe', '<U+202E>gpj.exe'],
    ['\u009b\u200b\u{e0041}', '<U+009B><U+200B><U+E0041>'],
    ['漢 é 🙂', '漢 é 🙂'],
  ])('shows %j as %j', (command, shown) => {
    expect(describeFindings([finding('r', command)])).toBe(`\`${shown}\` is bad (rule r)`);
  });
});
