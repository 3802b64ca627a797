import { randomUUID } from 'node:crypto';
import { TAG_VARIABLE } from '../process-tree.js';

const WELL_FORMED = /^(?:[\w-]+\.)*$/;

/**
 * What the tags of all processes of this host begin with. It begins with the tag of the host's own
 * process where a call of another host started it, so that the other ends what this one starts.
 */
export const HOST_TAG = `${inheritedTag()}${randomUUID()}.`;

/** A tag for the processes of one call. */
export function createCallTag(): string {
  return `${HOST_TAG}${randomUUID()}.`;
}

function inheritedTag(): string {
  // biome-ignore lint/style/noProcessEnv: what starts a host by a call says so there
  const given = process.env[TAG_VARIABLE] ?? '';
  return WELL_FORMED.test(given) ? given : '';
}
