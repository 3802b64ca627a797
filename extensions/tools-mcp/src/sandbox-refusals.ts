import { cleanText, isWithin } from '@ethosagent/policy';
import type { ServiceDenial, ServiceScope } from '@ethosagent/types';

const MAX_TOLD = 3;

/** Programs that download the code that they run, and the hosts that they need. */
const FETCHERS: ReadonlyMap<string, { hosts: string; cache: string }> = new Map<
  string,
  { hosts: string; cache: string }
>([
  ...['npx', 'npm', 'pnpm', 'pnpx', 'yarn', 'bunx'].map(
    (name) => [name, { hosts: 'registry.npmjs.org', cache: 'npm_config_cache' }] as const,
  ),
  ...['uvx', 'uv', 'pipx'].map(
    (name) => [name, { hosts: 'pypi.org, files.pythonhosted.org', cache: 'UV_CACHE_DIR' }] as const,
  ),
]);

/**
 * Returns the hosts that the sandbox of a server refused, in words for the model.
 *
 * @param before what the service had been refused before, which is left out
 */
export function refusedOnTheWay(
  { sandbox, denials }: ServiceScope,
  before: ReadonlySet<ServiceDenial>,
): string[] {
  if (sandbox === undefined) return [];
  const hosts = (denials?.() ?? [])
    .filter((denial) => denial.capability === 'network' && !before.has(denial))
    .flatMap(({ target }) => (URL.canParse(target) ? new URL(target).host : []));
  return [...new Set(hosts)];
}

/** Folders of the system that every sandbox shows. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc', '/proc', '/dev', '/sys', '/tmp'];

const UNRESOLVED =
  /(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH)\b[^\n]{0,40}?\b([a-z0-9-]+(?:\.[a-z0-9-]+)+)/gi;
const PATHS = [
  // Node: ENOENT: no such file or directory, open '/a'
  /\b(?:ENOENT|EACCES|EPERM|EROFS)\b[^\n']{0,100}'(\/[^'\n]{1,400})'/g,
  // Python: [Errno 13] Permission denied: '/a'
  /(?:No such file or directory|Permission denied|Read-only file system): '(\/[^'\n]{1,400})'/g,
  // Shells: a: /b: Permission denied
  /(\/[^\s:'"]{1,400}): (?:No such file or directory|Permission denied|Read-only file system)/g,
];

/**
 * Says for the host what the sandbox of a server has refused, and which line in the personality
 * would allow it. The paths are those that the server itself names as missing. The text is empty
 * when there is no sandbox, or when nothing is known.
 *
 * @param command the command of the server, when it did not start
 * @param said the end of the server's standard error
 */
export function sandboxRefusals(
  scope: ServiceScope,
  { command = '', said = '' }: { command?: string; said?: string },
): string {
  const where = scope.sandbox;
  if (where === undefined) return '';
  const hosts = refusedHosts(scope, said);
  const paths = refusedPaths(scope, said);
  const name = command.split('/').at(-1) ?? '';
  const fetcher = FETCHERS.get(name);
  const told = [
    ...hosts,
    ...paths,
    ...(fetcher === undefined
      ? []
      : [
          `${name} fetches the program before it runs it: that takes safety.network.allow: [${fetcher.hosts}], and a folder for what it fetched that it may write, in fs_reach.write and as ${fetcher.cache} in the env of the server, or all is fetched anew at each start; better install the server, and give its own program as the command`,
        ]),
  ];
  if (told.length === 0) return '';
  const inside =
    where === 'required' ? 'it runs in a sandbox' : 'it runs in a sandbox where there is one';
  return `${inside}; ${told.join('; ')}`;
}

function refusedHosts({ denials, hosts = [] }: ServiceScope, said: string): string[] {
  const refused = (denials?.() ?? []).filter(({ capability }) => capability === 'network');
  const told = refused.slice(0, MAX_TOLD).map(({ target, reason }) => {
    const url = URL.canParse(target) ? new URL(target) : undefined;
    const host = url?.host ?? '';
    if (host === '') return `a request was refused (${reason})`;
    return `${host} was refused (${reason})${remedyOf(reason, host)}`;
  });
  if (told.length > 0 || hosts.length > 0 || said === '') return told;
  // Without hosts there is no proxy, so nothing reports a refused host.
  const asked = new Set([...said.matchAll(UNRESOLVED)].map(([, host]) => `${host}`.toLowerCase()));
  const names = [...asked].slice(0, MAX_TOLD);
  if (names.length === 0) return [];
  const list = names.join(', ');
  return [
    `it asked for ${list}, and the personality allows no host; add safety.network.allow: [${list}]`,
  ];
}

function remedyOf(reason: string, host: string): string {
  if (/^not in the|^port/.test(reason)) return `; add safety.network.allow: [${host}]`;
  if (reason.startsWith('address floor')) {
    return '; if it is a server of your own network, set safety.network.allow_private_urls: true';
  }
  return '';
}

function refusedPaths({ reach, redact }: ServiceScope, said: string): string[] {
  const { read = [], write = [] } = reach ?? {};
  const found = PATHS.flatMap((pattern) =>
    [...said.matchAll(pattern)].map(([, path]) => `${path}`),
  );
  const told = [...new Set(found)].flatMap((path) => {
    const isIn = (roots: readonly string[]) => roots.some((root) => isWithin(path, root));
    const mayRead = isIn(read);
    if (isIn(write) || (!mayRead && isIn(SYSTEM))) return [];
    const shown = JSON.stringify(cleanText(redact(path), 200));
    return mayRead
      ? [
          `it says that it can not write ${shown}, which it may only read; add its folder to fs_reach.write`,
        ]
      : [
          `it says that it lacks ${shown}, which it does not see; add its folder to fs_reach.read, or to fs_reach.write if it is to write there`,
        ];
  });
  return told.slice(0, MAX_TOLD);
}
