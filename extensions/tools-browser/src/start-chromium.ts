import { CHROMIUM_NAMES } from '@ethosagent/policy';
import {
  EthosError,
  errorCodeOf,
  type ServiceProcesses,
  type ServiceProxy,
  type ServiceScope,
} from '@ethosagent/types';
import type { Browser, BrowserContext } from 'playwright-core';
import type { BrowserSettings } from './browser-settings.js';
import { chromiumFlags } from './chromium-flags.js';
import { DevtoolsPipe } from './devtools-pipe.js';

/** A running Chromium, with the one context that the tools use. */
export interface RunningChromium {
  browser: Browser;
  context: BrowserContext;
  /** The number of messages that were too large. */
  readonly oversized: number;
  /** Fires when Chromium has ended. */
  readonly gone: AbortSignal;
  /** The number of tabs that pages have opened, counted before the library knows them. */
  readonly tabsOpened: number;
  /** The mark of answers of the proxy itself. */
  readonly proxyMark: string;
  readonly maxDownloadBytes: number;
  /** Calls the listener when a download has become too large. */
  onLargeDownload(listener: () => void): void;
  /** Calls the listener when a tab shows another document. */
  onCommit(listener: () => void): void;
}

const START_TIMEOUT_MS = 30_000;
const STDERR_CHARS = 2_000;

const PROXY_MARK = 'the proxy of the sandbox: ';
const PROXY_LINE = new RegExp(`^${PROXY_MARK}(http://127\\.0\\.0\\.1:\\d+)$`, 'm');
/**
 * The script that starts Chromium. Chromium reads the DevTools pipe from descriptor 3 and writes it to
 * descriptor 4; both are connected to the standard streams. The profile is in a folder of its own, which is
 * removed at the end. Chromium's own sandbox refuses to run as root. In our sandbox, the proxy is a socket,
 * and a relay gives it a port inside the sandbox. There, the start script of Debian is not used, because it
 * needs files that the sandbox does not have.
 */
const STARTER = `
profile=$(mktemp -d "\${TMPDIR:-/tmp}/ethos-browser-XXXXXX") || exit 1
sandbox=$1; shift
bare() {
  if [ "$sandbox" != must ]; then return; fi
  echo "--no-sandbox is not allowed, and needed here" >&2
  rmdir -- "$profile"
  exit 1
}
if [ "$sandbox" = off ] || [ "$(id -u)" = 0 ]; then bare; set -- "$@" --no-sandbox; fi
if [ -S /run/ethos/proxy ]; then
  bare
  echo "${PROXY_MARK}$HTTP_PROXY" >&2
  set -- "$@" --no-sandbox "--proxy-server=$HTTP_PROXY"
  for folder in "\${1##*/}" chromium; do
    real=/usr/lib/$folder/\${1##*/}
    if [ -x "$real" ]; then shift; set -- "$real" "$@"; break; fi
  done
fi
trap : TERM INT HUP
HOME=$profile XDG_CONFIG_HOME=$profile XDG_CACHE_HOME=$profile "$@" "--user-data-dir=$profile" 3<&0 4>&1 </dev/null >/dev/null
status=$?
rm -rf -- "\${profile:?}"
exit $status
`;

/**
 * Starts Chromium behind the proxy of a service.
 *
 * @throws the errors of `ServiceProcesses`; `SPAWN_FAILED` when Chromium ends at once or does not
 *   answer
 */
export async function startChromium(
  scope: ServiceScope,
  settings: BrowserSettings,
): Promise<RunningChromium> {
  const { scopedProcess } = scope;
  const proxy = await scope.proxy?.();
  if (scopedProcess === undefined || proxy === undefined) {
    throw new EthosError('SPAWN_FAILED', 'the service has no processes or no proxy');
  }
  const { username, password }: ServiceProxy = proxy;
  const flags = chromiumFlags(proxy.server);
  const { file, sandbox } = await prepared(scopedProcess, settings, flags);
  let begin = '';
  let stderr = '';
  let oversized = 0;
  let pipe: DevtoolsPipe | undefined;
  const connection = await scopedProcess.open(
    'sh',
    ['-c', STARTER, 'sh', sandbox, file, ...flags],
    {
      async onOutput(text, stream) {
        if (stream === 'stderr') {
          if (begin.length < STDERR_CHARS) begin += text;
          stderr = (stderr + text).slice(-STDERR_CHARS);
        } else await pipe?.receive(text);
      },
    },
  );
  const gone = new AbortController();
  const maxDownloadBytes = settings.max_download_bytes;
  let onLargeDownload = () => {};
  let onCommit = () => {};
  let tabs = 0;
  pipe = new DevtoolsPipe(connection, {
    onTab: () => {
      tabs += 1;
    },
    onCommit: () => onCommit(),
    onOversize: () => {
      oversized += 1;
    },
    onDownloadProgress: (bytes) => {
      if (bytes > maxDownloadBytes) onLargeDownload();
    },
  });
  const ended = connection.result.then(
    () => {},
    () => {},
  );
  const transport = pipe;
  const exited = ended.then(() => {
    gone.abort(new Error('the browser has ended'));
    transport.closed();
  });
  try {
    const { chromium } = await import('playwright-core');
    const browser = await Promise.race([
      chromium.connectOverCDP(transport, {
        timeout: Math.max(START_TIMEOUT_MS, settings.navigation_timeout_ms),
      }),
      exited.then(() => {
        throw new EthosError('SPAWN_FAILED', 'it ended at once');
      }),
    ]);
    scope.onEnd(async () => {
      await Promise.race([browser.close(), exited]).catch(() => {});
      await connection.stop();
    });
    const context = await browser.newContext({
      viewport: settings.viewport,
      acceptDownloads: settings.max_download_bytes > 0,
      permissions: [],
      // No page exists yet, so no page can have written this.
      proxy: {
        username,
        password,
        server: PROXY_LINE.exec(begin)?.[1] ?? proxy.server,
        bypass: '<-loopback>',
      },
    });
    return {
      browser,
      context,
      gone: gone.signal,
      proxyMark: proxy.mark,
      get tabsOpened() {
        return tabs;
      },
      maxDownloadBytes,
      onLargeDownload(listener) {
        onLargeDownload = listener;
      },
      onCommit(listener) {
        onCommit = listener;
      },
      get oversized() {
        return oversized;
      },
    };
  } catch (cause) {
    await connection.stop().catch(() => {});
    const said = lastLineOf(stderr);
    throw new EthosError('SPAWN_FAILED', `Chromium did not start${said && `: ${said}`}`, { cause });
  }
}

interface Prepared {
  file: string;
  /** Whether Chromium's own sandbox is used if it works. With `must`, Chromium does not start without it. */
  sandbox: 'on' | 'off' | 'must';
}

/** Finds the first installed Chromium that may be started with each of these sets of arguments. */
async function prepared(
  processes: ServiceProcesses,
  { chromium_sandbox, executable_path }: BrowserSettings,
  flags: readonly string[],
): Promise<Prepared> {
  const all = [...flags, '--user-data-dir=/tmp/ethos-browser-XXXXXX'];
  const ways: Array<[sandbox: Prepared['sandbox'], args: string[]]> = chromium_sandbox
    ? [
        ['on', [...all, '--no-sandbox']],
        ['must', all],
      ]
    : [['off', [...all, '--no-sandbox']]];
  let failure: unknown;
  for (const name of executable_path === undefined ? CHROMIUM_NAMES : [executable_path]) {
    for (const [sandbox, args] of ways) {
      try {
        const { file } = await processes.prepare(name, args);
        return { file, sandbox };
      } catch (error) {
        const code = errorCodeOf(error);
        // It is there and may be started, though not by others than `open`, which is what starts it.
        if (code === 'SANDBOX_UNAVAILABLE') return { file: name, sandbox };
        if (code !== 'SPAWN_FAILED' && code !== 'BINARY_NOT_ALLOWED') throw error;
        if (failure === undefined || code === 'BINARY_NOT_ALLOWED') failure = error;
        if (code === 'SPAWN_FAILED') break;
      }
    }
  }
  throw failure;
}

function lastLineOf(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (lines.at(-1) ?? '').slice(0, 300);
}
