import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { assertOptions, copyBytes, type OptionNames } from '@ethosagent/policy';
import { type AttachmentStore, EthosError } from '@ethosagent/types';
import { assertFolder } from './assert-folder.js';
import { FsStorage } from './fs-storage.js';

const ID = /^[0-9a-f]{64}$/;

/** Options of `createAttachmentCache`. */
export interface AttachmentCacheOptions {
  /**
   * The absolute path of the folder. The cache creates it when it is needed; only its owner may use
   * it.
   */
  dir: string;
  /** The most bytes that one attachment may have. 50,000,000 when absent. */
  maxBytes?: number;
}

const OPTIONS: OptionNames<AttachmentCacheOptions> = { dir: true, maxBytes: true };

/**
 * Creates a store that keeps attachments on the disk. The id of an attachment is the SHA-256 of its
 * bytes: equal bytes are stored once, and bytes that changed on the disk are not returned.
 *
 * @param options the folder, and the most bytes of one attachment
 * @returns the store
 * @throws `CONFIG_INVALID` if `dir` is not an absolute path, or for an option that there is not.
 * From `put`: `FILE_TOO_LARGE`, `VALUE_INVALID` for bytes that are not a `Uint8Array`, and the codes
 * of a write. From `get`: `FILE_TOO_LARGE`, or `STORAGE_FAILED` if the bytes on the disk are not
 * those that were put there. From both: `PATH_NOT_REACHABLE` if a link in the folder leads out of it
 */
export function createAttachmentCache(options: AttachmentCacheOptions): AttachmentStore {
  assertOptions('createAttachmentCache', options, OPTIONS);
  const { dir, maxBytes = 50_000_000 } = options;
  assertFolder('createAttachmentCache', dir);
  // Its own folder is its reach, so that a link in it leads nowhere else.
  const storage = new FsStorage({ maxReadBytes: maxBytes }).contained({
    read: [dir],
    write: [dir],
  });
  // Two levels of folders, so that no folder gets large.
  const pathOf = (id: string) => join(dir, id.slice(0, 2), id.slice(2));

  return {
    async put(bytes, { name, mediaType }) {
      if (bytes.length > maxBytes) {
        throw new EthosError('FILE_TOO_LARGE', `${name}: larger than the cap of ${maxBytes} bytes`);
      }
      // A copy: the caller may change its array, and then the id would be wrong.
      const kept = copyBytes(bytes, name);
      const id = digest(kept);
      const path = pathOf(id);
      const known = await storage.readBytes(path).catch(() => null);
      // A damaged file is repaired when the same content is put again.
      if (known === null || digest(known) !== id) {
        await storage.mkdir(dirname(path), { mode: 0o700 });
        await storage.write(path, kept, { mode: 0o600 });
      }
      return { id, name, mediaType, sizeBytes: kept.length };
    },

    async get(id) {
      if (!ID.test(id)) return null;
      const bytes = await storage.readBytes(pathOf(id));
      if (bytes !== null && digest(bytes) !== id) {
        throw new EthosError('STORAGE_FAILED', `attachment ${id} is damaged; put it again`);
      }
      return bytes;
    },
  };
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
