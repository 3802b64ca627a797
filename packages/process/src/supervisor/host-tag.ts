import { randomUUID } from 'node:crypto';
import { ProcessMarks, TAG_VARIABLE } from '../process-marks.js';

const WELL_FORMED = /^(?:[\w-]+\.)*$/;

/**
 * What the tags of all processes of this host begin with. It begins with the tag of the host's own
 * process where a call of another host started it, so that the other ends what this one starts.
 */
export const HOST_TAG = `${inheritedTag()}${randomUUID()}.`;

/**
 * Marks for the processes of one call. Their tag begins with the tag of the host.
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
