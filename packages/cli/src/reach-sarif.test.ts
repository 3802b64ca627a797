import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCliHome } from './fixtures/cli-home.js';

let world: ReturnType<typeof openCliHome>;
beforeEach(() => {
  world = openCliHome({
    '.ethos/personalities/coder/config.yaml':
      'name: Coder\ntoolset: [read_file]\nfs_reach:\n  read:\n    - "${CWD}/notes"\n',
    'notes/a.txt': 'hello',
  });
});
afterEach(() => world.remove());

describe('reach', () => {
  it('gives SARIF with the line of the personality that gives each thing', async () => {
    const { code, out } = await world.run(['reach', '--sarif']);
    expect(code).toBe(0);
    const [{ tool, results }] = JSON.parse(out).runs;
    expect(tool.driver.name).toBe('ethosagent reach');
    expect(results).toEqual([
      {
        ruleId: 'reach-path',
        level: 'note',
        message: { text: `coder read_file: read ${world.cwd}/notes` },
        locations: [
          {
            physicalLocation: {
              artifactLocation: {
                uri: '.ethos/personalities/coder/config.yaml',
                uriBaseId: '%SRCROOT%',
              },
              region: { startLine: 5 },
            },
          },
        ],
      },
    ]);
  });

  it('says of one tool why it may touch what it may', async () => {
    const { out } = await world.run(['reach', 'read_file']);
    expect(out).toMatch(/why\n.*notes.*fs_reach\.read = "from-personality".*config\.yaml:5/);
  });

  it.each([
    ['--html', '--sarif'],
    ['--sarif', '--json'],
    ['--html', '--json'],
  ])('gives one of %s and %s alone', async (...options) => {
    expect((await world.run(['reach', ...options])).code).toBe(2);
  });
});
