import { chainHash } from './chain.js';
import { readHead } from './head-file.js';

/**
 * Whether a log of `JsonlAuditSink` exists and every line of it was written without a key.
 *
 * @param path the path of the log
 */
export function isKeylessLog(path: string): boolean {
  return typeof readHead(path, chainHash(undefined), false) !== 'string';
}
