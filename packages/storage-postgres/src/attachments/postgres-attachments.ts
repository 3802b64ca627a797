import { createHash } from 'node:crypto';
import { copyBytes } from '@ethosagent/policy';
import { type AttachmentStore, EthosError, type OpenedStore } from '@ethosagent/types';
import type { Database } from '../database/database.js';

const ID = /^[0-9a-f]{64}$/;
const MAX_BYTES = 50_000_000;

/** Opens the attachments of a database. */
export async function openAttachments(
  database: Database,
): Promise<Required<OpenedStore<AttachmentStore>>> {
  const close = await database.open();
  return {
    store: createAttachments(database),
    close,
    problem: () => database.problem(),
  };
}

function createAttachments(database: Database): AttachmentStore {
  const table = `${database.schema}.attachment`;
  // A damaged attachment is repaired when the same content is put again. Putting it twice has the
  // same result, so it may be sent again.
  const put = {
    name: 'ethos_attachment_put',
    isRepeatable: true,
    text: `INSERT INTO ${table} (digest, bytes) VALUES ($1, $2) ON CONFLICT (digest)
      DO UPDATE SET bytes = excluded.bytes WHERE ${table}.bytes <> excluded.bytes`,
  };
  const get = {
    name: 'ethos_attachment_get',
    isRepeatable: true,
    text: `SELECT CASE WHEN octet_length(bytes) <= ${MAX_BYTES} THEN bytes END AS bytes
      FROM ${table} WHERE digest = $1`,
  };
  return {
    async put(bytes, { name, mediaType }) {
      if (bytes.length > MAX_BYTES) throw tooLarge(name);
      // A copy: the caller may change its array, and then the id would be wrong.
      const kept = Buffer.from(copyBytes(bytes, name).buffer);
      const digest = digestOf(kept);
      await database.run(put, [digest, kept]);
      return { id: digest.toString('hex'), name, mediaType, sizeBytes: kept.length };
    },
    async get(id) {
      if (!ID.test(id)) return null;
      const digest = Buffer.from(id, 'hex');
      const [row] = await database.run<{ bytes: Buffer | null }>(get, [digest]);
      if (row === undefined) return null;
      if (row.bytes === null) throw tooLarge(id);
      if (digestOf(row.bytes).equals(digest)) return new Uint8Array(row.bytes);
      throw new EthosError('STORAGE_FAILED', `attachment ${id} is damaged; put it again`);
    },
  };
}

function tooLarge(name: string): EthosError {
  return new EthosError('FILE_TOO_LARGE', `${name}: larger than the cap of ${MAX_BYTES} bytes`);
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
