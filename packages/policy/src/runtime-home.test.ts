import { describe, expect, it } from 'vitest';
import { homeStanding } from './runtime-home.js';

const home = { named: '/link/home', real: '/data/home' };

describe('homeStanding', () => {
  it.each([
    ['/work', 'apart'],
    ['/data/home-2', 'apart'],
    ['/', 'covers'],
    ['/data', 'covers'],
    ['/link', 'covers'],
    ['/data/home', 'covers'],
    ['/link/home/', 'covers'],
    ['/data/home/mcp.json', 'own'],
    ['/link/home/MCP.json', 'own'],
    ['/data/home/secrets', 'own'],
    ['/data/home/secrets/providers', 'own'],
    ['/data/home/state.sqlite-wal', 'own'],
    ['/data/home/audit.lock', 'own'],
    ['/data/home/.cache', 'own'],
    ['/data/home/personalities', 'own'],
    ['/data/home/personalities/coder', 'own'],
    ['/data/home/personalities/coder/config.yaml', 'own'],
    ['/data/home/personalities/coder/memory.md.versions', 'own'],
    ['/data/home/personalities/coder/notes', 'named'],
    ['/data/home/notes', 'named'],
    ['/link/home/notes/x', 'named'],
  ])('%s is %s', (path, standing) => {
    expect(homeStanding({ named: path, real: path }, home)).toBe(standing);
  });

  it('takes the worse of what a root is named and where it leads', () => {
    expect(homeStanding({ named: '/work/x', real: '/data/home/secrets' }, home)).toBe('own');
    expect(homeStanding({ named: '/link/home/notes', real: '/data' }, home)).toBe('covers');
    expect(homeStanding({ named: '/link/home/notes', real: '/srv/notes' }, home)).toBe('named');
  });
});
