import { err, failureOf } from '@ethosagent/plugin-sdk';
import { oneLine } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import type { Deadline } from './deadline.js';

const INSTALL =
  'Tell the user to install Chromium (apt-get install chromium-headless-shell), or to name one in the setting executable_path of tool_settings.browser';

const ANSWERS = {
  SPAWN_FAILED: ['not_available', INSTALL],
  BINARY_NOT_ALLOWED:
    'The browser is started as sh -c … with Chromium and its own arguments: tell the user that safety.process of this personality must allow both, or to name another Chromium in executable_path of tool_settings.browser',
  CALL_ENDED: 'Open the page again with browser_navigate',
  SANDBOX_UNAVAILABLE:
    'Tell the user that the browser can not run in the sandbox that this personality requires',
  TOO_MANY_SERVICES: 'Close what is no longer needed, e.g. with browser_close',
  FILE_NOT_FOUND: 'Give the path of a file that is there',
  NOT_A_FILE: 'Give the path of a regular file',
  FILE_TOO_LARGE: 'Give a smaller file',
  PATH_INVALID: 'Give another path',
  PERMISSION_DENIED: 'Give another path',
  ALREADY_EXISTS: 'Give another path',
  DISK_FULL: 'Tell the user that the disk is full',
  READ_ONLY: 'Give a path on another file system',
  STORAGE_FAILED: 'Try once more; if it fails again, tell the user',
} as const;

/** Errors of Chromium for an address that did not open, and what to tell the model about each. */
const NET_ERRORS: ReadonlyArray<[part: string, answer: string]> = [
  [
    'ERR_TUNNEL_CONNECTION_FAILED',
    'the host is not among those that may be reached, or does not answer',
  ],
  ['ERR_PROXY', 'the way to the network is closed; close the browser and open the page again'],
  ['ERR_CERT', 'the certificate of the server is not valid'],
  ['ERR_SSL', 'the server does not speak TLS as it should'],
  ['ERR_TOO_MANY_REDIRECTS', 'the page redirects too often'],
  ['ERR_UNSAFE_PORT', 'the port belongs to another kind of service'],
  ['ERR_EMPTY_RESPONSE', 'the server closed the connection without an answer'],
  ['ERR_INVALID_AUTH_CREDENTIALS', 'the server asks for a user and a password'],
  ['ERR_ABORTED', 'the page did not load: it is a file, or another page came first'],
];

/** Returns the result for an error. It throws the error again when the call was cancelled. */
export function browserFailure(error: unknown, deadline?: Deadline): ToolResult {
  if (deadline?.ended === 'cancelled') throw error;
  if (deadline?.ended === 'browser gone') {
    return err('The browser ended meanwhile. Open the page again with browser_navigate.');
  }
  if (deadline?.ended === 'out of time') return outOfTime(deadline.totalMs);
  const known = failureOf(error, ANSWERS);
  if (known !== undefined) return known;
  const message = error instanceof Error ? error.message : '';
  if (error instanceof Error && error.name === 'TimeoutError') {
    return outOfTime(deadline?.totalMs, blockedBy(message));
  }
  if (isDownload(error)) {
    return err(
      'The address is that of a file to download. Click a link to it with browser_download.',
    );
  }
  const net = NET_ERRORS.find(([part]) => message.includes(part));
  if (net !== undefined) return err(`The page could not be opened: ${net[1]}.`);
  if (/Target (?:page|crashed)|has been closed|crashed/.test(message)) {
    return err('The page crashed or was closed. Open it again with browser_navigate.');
  }
  const said = oneLine(message.replace(/^\w+\.\w+: /, '').split('\nCall log')[0] ?? '', 300);
  return err(`The browser refused: ${said}. Take a new browser_snapshot and try another way.`);
}

/** Whether a navigation failed because the address is that of a file. */
export function isDownload(error: unknown): boolean {
  const message = error instanceof Error ? error.message : '';
  return message.includes('Download is starting');
}

function outOfTime(totalMs: number | undefined, why = ''): ToolResult {
  const time = totalMs === undefined ? 'in time' : `within ${totalMs} ms`;
  return err(
    `The page did not answer ${time}${why}. The action may have happened all the same: look at browser_snapshot before you repeat it, use browser_wait, or open another page with browser_navigate.`,
    'execution_failed',
    'CALL_TIMED_OUT',
  );
}

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');
const OBSTACLE =
  /intercepts pointer events|not (?:visible|enabled|stable|editable)|outside of the viewport/;

/** Finds in the log of the library what an action waited for last. */
function blockedBy(message: string): string {
  const lines = message.replace(COLOUR, '').split('\n');
  const line = lines.findLast((candidate) => OBSTACLE.test(candidate));
  return line === undefined ? '' : `: ${oneLine(line.replace(/^\s*- /, ''), 200)}`;
}
