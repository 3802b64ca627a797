import { isAbsolute, join } from 'node:path';
import { EthosError } from '@ethosagent/types';
import { compilePathSet, isWithin, type PathSet, pathProblem } from './paths.js';

/** What the deny floor is built for. */
export interface DenyFloorOptions {
  /** The user's home directory, absolute. */
  home: string;
  /** The folder of the project's own secrets, absolute. */
  secretsDir?: string;
  /** More files and folders, absolute. The floor can be extended, not emptied. */
  extra?: readonly string[];
}

const BELOW_HOME: readonly string[] = [
  // Keys and agents.
  '.ssh',
  '.gnupg',
  '.password-store',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  '.pki',
  '.age',
  '.config/sops',
  '.config/op',
  '.1password',
  '.config/1Password',
  '.config/Bitwarden',
  '.config/Bitwarden CLI',
  '.vault-token',
  'Library/Keychains',
  // Clouds and clusters.
  '.aws',
  '.azure',
  '.boto',
  '.s3cfg',
  '.config/gcloud',
  '.config/doctl',
  '.config/hcloud',
  '.config/rclone',
  '.config/heroku',
  '.oci',
  '.bluemix',
  '.kube',
  '.docker/config.json',
  '.docker/contexts',
  '.config/containers/auth.json',
  '.config/helm/registry',
  '.config/helm/repositories.yaml',
  '.terraform.d/credentials.tfrc.json',
  '.terraformrc',
  '.fly',
  '.vercel',
  '.config/netlify',
  // Forges, registries, databases, mail.
  '.netrc',
  '_netrc',
  '.git-credentials',
  '.config/git/credentials',
  '.config/gh',
  '.config/hub',
  '.config/glab-cli',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.config/pnpm/rc',
  '.pypirc',
  '.gem/credentials',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.m2/settings.xml',
  '.m2/settings-security.xml',
  '.gradle/gradle.properties',
  '.nuget/NuGet/NuGet.Config',
  '.composer/auth.json',
  '.config/composer/auth.json',
  '.pgpass',
  '.my.cnf',
  '.mylogin.cnf',
  '.config/msmtp',
  '.msmtprc',
  // Browsers: cookies and saved passwords.
  '.mozilla',
  '.thunderbird',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  '.config/microsoft-edge',
  '.config/vivaldi',
  '.config/opera',
  'snap/firefox',
  'snap/chromium',
  'Library/Application Support/Firefox',
  'Library/Application Support/Google/Chrome',
  'Library/Application Support/BraveSoftware',
  'Library/Application Support/Microsoft Edge',
  'Library/Cookies',
  'Library/Safari',
  // Histories of what was typed, which may include passwords.
  '.bash_history',
  '.zsh_history',
  '.sh_history',
  '.local/share/fish/fish_history',
  '.python_history',
  '.node_repl_history',
  '.psql_history',
  '.mysql_history',
  '.rediscli_history',
];

const SYSTEM: readonly string[] = [
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/master.passwd',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssl/private',
  '/etc/ssh',
  '/etc/pki/tls/private',
  '/etc/krb5.keytab',
  '/etc/security/opasswd',
  '/etc/kubernetes',
  '/etc/NetworkManager/system-connections',
  '/etc/wireguard',
  '/var/lib/kubelet',
  '/var/run/secrets',
  '/run/secrets',
  '/var/run/docker.sock',
  '/run/docker.sock',
  // The file systems through which the kernel shows processes, memory and devices.
  '/proc',
  '/sys',
  '/dev',
];

/** Harmless paths below a denied root. */
const EXCEPTIONS: readonly string[] = ['/dev/null'];

/**
 * The files and folders that no reach ever includes: credentials below the home directory, the
 * system's secrets, `/proc`, `/sys` and `/dev`, and the project's own secrets.
 *
 * @param options the home directory, the folder of the secrets, and further paths to deny
 * @returns absolute paths, for `compileDenySet`
 * @throws `CONFIG_INVALID` when one of the options is not an absolute path
 */
export function denyFloor(options: DenyFloorOptions): string[] {
  const { home, secretsDir, extra = [] } = options;
  const given = secretsDir === undefined ? extra : [secretsDir, ...extra];
  if (!isAbsolute(home)) {
    throw new EthosError(
      'CONFIG_INVALID',
      `the home folder of this user is ${JSON.stringify(home)}; set HOME to an absolute path`,
    );
  }
  for (const path of [home, ...given]) assertDeniable(path);
  return [...BELOW_HOME.map((path) => join(home, path)), ...SYSTEM, ...given];
}

/**
 * Compiles a deny list for many lookups. `/dev/null` is never denied by a root above it.
 *
 * @param paths absolute files and folders, denied with all below them
 * @returns a set whose `covers` gives the root that denies a path
 * @throws `CONFIG_INVALID` for a path that could deny nothing, rather than to drop it
 */
export function compileDenySet(paths: Iterable<string>): PathSet {
  const listed = [...paths];
  for (const path of listed) assertDeniable(path);
  const set = compilePathSet(listed);
  const unless = (path: string, root: string | undefined) =>
    root !== undefined && EXCEPTIONS.some((exempt) => isWithin(path, exempt)) ? undefined : root;
  return {
    roots: set.roots,
    covers: (path) => unless(path, set.covers(path)),
    coversNormal: (path) => unless(path, set.coversNormal(path)),
  };
}

/** @throws `CONFIG_INVALID` for a path that can't deny anything */
export function assertDeniable(path: string): void {
  const problem =
    pathProblem(path) ?? (isAbsolute(path) ? undefined : `${path} is not an absolute path`);
  if (problem !== undefined) {
    throw new EthosError('CONFIG_INVALID', `deny list: ${problem}; give an absolute path`);
  }
}
