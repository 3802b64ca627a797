import { lstatSync, readlinkSync } from 'node:fs';
import type { Mount } from './mounts.js';

/** The folders of programs and their parts. They are the same for every user of the machine. */
const FOLDERS = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix/store',
  '/etc/alternatives',
  '/etc/pki/ca-trust',
  '/etc/pki/tls/certs',
  '/etc/ssl/certs',
];

/**
 * Files that programs look up: names, times, certificates, the linker's cache. To copy one costs
 * less than to mount it.
 */
const FILES = [
  'group',
  'hosts',
  'ld.so.cache',
  'localtime',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'ssl/openssl.cnf',
  'timezone',
];

let known: ReadonlyMap<string, Mount> | undefined;

/** The mounts of every sandbox: these read-only folders and files, and its own `/tmp`. */
export function systemMounts(): ReadonlyMap<string, Mount> {
  known ??= new Map<string, Mount>([
    ...[...FOLDERS, ...FILES.map((name) => `/etc/${name}`)].flatMap(systemMount),
    ['/tmp', { kind: 'scratch' }],
  ]);
  return known;
}

function systemMount(path: string): Array<[string, Mount]> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (stats.isSymbolicLink()) return [[path, { kind: 'link', target: readlinkSync(path) }]];
  return [[path, { kind: stats.isDirectory() ? 'system' : 'copy' }]];
}
