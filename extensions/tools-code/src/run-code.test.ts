import { errorOf, structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { describe, expect, it } from 'vitest';
import { createCodeWorld } from './fixtures/code-world.js';

describe('run_code', () => {
  it.each([
    [
      'python',
      'import json, math, re\nprint(json.dumps({"pi": round(math.pi, 2)}))',
      '{"pi": 3.14}',
    ],
    ['javascript', 'console.log(JSON.stringify({ pi: Math.PI.toFixed(2) }))', '{"pi":"3.14"}'],
    ['javascript', 'import { join } from "node:path"; console.log(await join("a", "b"))', 'a/b'],
    ['javascript', 'const { join } = require("node:path"); console.log(join("a", "b"))', 'a/b'],
    ['bash', 'for i in 1 2 3; do echo "$((i * i))"; done', '1\n4\n9'],
    ['python', 'open("/tmp/x", "w").write("mine"); print(open("/tmp/x").read())', 'mine'],
    [
      'javascript',
      'const fs=require("fs");fs.writeFileSync("/tmp/x","mine");console.log(fs.readFileSync("/tmp/x","utf8"))',
      'mine',
    ],
    ['bash', 'echo mine >/tmp/x; cat /tmp/x', 'mine'],
  ])('runs %s: %s', async (language, code, printed) => {
    const result = await createCodeWorld().run('run_code', { language, code });
    expect(textOf(result)).toBe(printed);
    expect(structuredOf(result)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.each([
    ['python', 'import sys; print(sys.stdin.read().upper())'],
    ['javascript', 'console.log(require("fs").readFileSync(0, "utf8").toUpperCase())'],
    ['bash', 'tr a-zä A-ZÄ'],
  ])('gives %s its input', async (language, code) => {
    const result = await createCodeWorld().run('run_code', { language, code, stdin: 'ab\n"$c' });
    expect(textOf(result)).toBe('AB\n"$C');
  });

  it('runs nothing in a dry run', async () => {
    const world = createCodeWorld();
    const run = { language: 'bash', code: 'echo ran' };
    const result = await world.run('run_code', run, { dryRun: true });
    expect(textOf(result)).toBe(
      '[dry-run] 8 characters of bash would be run in a sandbox, for 10 s at most',
    );
    expect(structuredOf(result)).toEqual({ dryRun: true, language: 'bash' });
    expect(result).toMatchObject({ untrusted: false });
  });

  it('a snippet that fails is a result', async () => {
    const result = await createCodeWorld().run('run_code', {
      language: 'python',
      code: 'x = 1\nraise ValueError("no")',
    });
    expect(structuredOf(result)).toMatchObject({ exitCode: 1 });
    expect(textOf(result)).toMatch(/main\.py", line 2[\s\S]*ValueError: no\n\[exit code 1\]$/);
  });

  it('one that does not end is stopped, and what it printed is told', async () => {
    const result = await createCodeWorld().run('run_code', {
      language: 'python',
      code: 'print("begun")\nwhile True: pass',
      timeout_ms: 1_000,
    });
    expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
    expect(errorOf(result)).toMatch(/within 1 s[\s\S]*begun/);
  });
});
