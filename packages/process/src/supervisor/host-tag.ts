import { randomUUID } from 'node:crypto';
import { ProcessMarks, TAG_VARIABLE } from '../process-marks.js';

const WELL_FORMED = /^(?:[\w-]+\.)*$/;

/**
 * The common start of the tags of all processes of this host. If a call of another host started
 * this host, it begins with the tag of that call. So the other host also ends what this one starts.
 */
export const HOST_TAG = `${inheritedTag()}${randomUUID()}.`;

/**
 * Creates the marks for the processes of one call. Their tag begins with the tag of the host.
 *
 * @returns the marks
 */
export function createCallMarks(): ProcessMarks {
  return new ProcessMarks(`${HOST_TAG}${randomUUID()}.`);
}

function inheritedTag(): string {
  // biome-ignore lint/style/noProcessEnv: what starts a host by a call says so there
  const given = process.env[TAG_VARIABLE] ?? '';
  return WELL_FORMED.test(given) ? given : '';
}
