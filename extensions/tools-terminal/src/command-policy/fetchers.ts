import { nameOf } from './words-to-command.js';

/** Programs whose output comes from the network. */
const FETCHERS = new Set([
  'curl',
  'wget',
  'wget2',
  'fetch',
  'aria2c',
  'axel',
  'http',
  'https',
  'xh',
  'curlie',
  'lynx',
  'w3m',
  'links',
  'elinks',
  'lwp-request',
  'lwp-download',
  'GET',
  'nc',
  'ncat',
  'netcat',
  'socat',
  'telnet',
  'ftp',
  'tftp',
  'sftp',
  'ssh',
  'busybox-wget',
  'openssl',
]);

/** Whether one of the first words of a command, wrappers included, names such a program. */
export function runsFetcher(words: readonly string[]): boolean {
  return words.some((word, index) => {
    const name = nameOf(word) ?? '';
    if (!FETCHERS.has(name)) return false;
    // A mere argument does not count, as in `grep -r curl` or `apt install curl`.
    return index === 0 || WRAPPING.has(nameOf(words[0]) ?? '');
  });
}

const WRAPPING = new Set([
  'sudo',
  'doas',
  'env',
  'command',
  'exec',
  'builtin',
  'nohup',
  'nice',
  'ionice',
  'time',
  'timeout',
  'stdbuf',
  'setsid',
  'xargs',
  'parallel',
  'watch',
  'strace',
  'busybox',
  'toybox',
  'proxychains',
  'proxychains4',
  'torify',
  'torsocks',
  'eval',
]);
