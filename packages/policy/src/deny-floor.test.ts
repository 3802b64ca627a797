import { describe, expect, it } from 'vitest';
import { compileDenySet, denyFloor } from './deny-floor.js';

const floor = denyFloor({
  home: '/home/ada',
  secretsDir: '/home/ada/.ethos/secrets',
  extra: ['/srv/private/'],
});
const set = compileDenySet(floor);

describe('denyFloor', () => {
  it.each([
    '/home/ada/.ssh',
    '/home/ada/.ssh/id_ed25519',
    '/home/ada/.aws/credentials',
    '/home/ada/.gnupg/private-keys-v1.d/k.key',
    '/home/ada/.config/gcloud/credentials.db',
    '/home/ada/.kube/config',
    '/home/ada/.docker/config.json',
    '/home/ada/.netrc',
    '/home/ada/.npmrc',
    '/home/ada/.pypirc',
    '/home/ada/.git-credentials',
    '/home/ada/.config/gh/hosts.yml',
    '/home/ada/.azure/accessTokens.json',
    '/home/ada/.password-store/x.gpg',
    '/home/ada/.mozilla/firefox/p/logins.json',
    '/home/ada/Library/Keychains/login.keychain-db',
    '/home/ada/.bash_history',
    '/home/ada/.ethos/secrets/providers/x',
    '/srv/private',
    '/srv/private/x',
    '/etc/shadow',
    '/etc/gshadow',
    '/etc/sudoers',
    '/etc/ssl/private/key.pem',
    '/proc/self/environ',
    '/proc/self/root/etc/passwd',
    '/proc/1/mem',
    '/sys/kernel',
    '/dev/mem',
    '/dev/fd/3',
    '/dev/nullx',
    '/dev/../dev/zero',
    '//proc//self/environ',
  ])('denyFloor denies %s', (path) => {
    expect(set.covers(path)).toBeDefined();
  });

  it.each([
    '/dev/null',
    '/home/ada/project/.ssh',
    '/home/ada/.sshx',
    '/home/ada/.docker/daemon.json',
    '/home/ada/.config/app.json',
    '/home/bob/.ssh',
    '/etc/hosts',
    '/etc/passwd',
    '/process',
    '/home/ada/.ethos/personalities',
  ])('denyFloor leaves %s', (path) => {
    expect(set.covers(path)).toBeUndefined();
  });

  it('denyFloor can be extended and not emptied', () => {
    expect(denyFloor({ home: '/h', extra: [] }).length).toBeGreaterThan(50);
    expect(compileDenySet(denyFloor({ home: '/h', extra: ['/x'] })).covers('/x/y')).toBe('/x');
  });

  it.each(['', 'secrets', '~/.ssh', '/a\0'])('denyFloor refuses %j rather than drop it', (path) => {
    const invalid = expect.objectContaining({ code: 'CONFIG_INVALID' });
    expect(() => denyFloor({ home: path })).toThrow(invalid);
    expect(() => denyFloor({ home: '/h', extra: [path] })).toThrow(invalid);
    expect(() => denyFloor({ home: '/h', secretsDir: path })).toThrow(invalid);
    expect(() => compileDenySet([path])).toThrow(invalid);
  });
});

it.each(['', 'ada', './ada'])(
  'the home %j, as HOME may say it, denies nothing and is refused',
  (home) => {
    expect(() => denyFloor({ home })).toThrow(/set HOME to an absolute path/);
  },
);
