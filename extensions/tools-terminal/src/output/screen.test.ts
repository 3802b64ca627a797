import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const repository = fileURLToPath(new URL('../../../../', import.meta.url));

it('screenOf works in a program that tsx runs', async () => {
  const program = `
    import { screenOf } from '${new URL('screen.ts', import.meta.url)}';
    const { text } = await screenOf('a\\u001b[2Cb', new AbortController().signal);
    console.log(text);
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', program],
    { cwd: repository, env: { ...process.env, TSX_TSCONFIG_PATH: 'tsconfig.sources.json' } },
  );
  expect(stdout).toBe('a  b\n');
});
