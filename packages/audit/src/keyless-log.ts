import { chainHash } from './chain.js';
import { readHead } from './head-file.js';

/**
 * Whether a log of `JsonlAuditSink` was begun, and has been written up to now, without a key.
 *
 * @param path of the log
 */
export function isKeylessLog(path: string): boolean {
  return typeof readHead(path, chainHash(undefined), false) !== 'string';
}
