import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileSecrets } from '@ethosagent/storage-fs';
import { type AttachmentStore, errorCodeOf, type SecretStore } from '@ethosagent/types';
import { digestOf, type Move } from './move-item.js';

/** Moves attachments. Their name is their digest. */
export function moveAttachments(
  folder: string,
  { from, to }: { from: AttachmentStore; to: AttachmentStore },
): Move {
  return {
    atOnce: 2,
    async *items() {
      for (const id of await idsIn(folder)) {
        yield {
          name: id,
          source: async () => ((await from.get(id)) === null ? undefined : id),
          target: async () => ((await to.get(id)) === null ? undefined : id),
          async copy() {
            if ((await to.get(id).catch(() => null)) !== null) return 'there';
            const bytes = await from.get(id);
            if (bytes === null) return 'there';
            const put = await to.put(bytes, { name: id, mediaType: 'application/octet-stream' });
            return put.id === id ? 'moved' : 'other';
          },
        };
      }
    },
  };
}

async function idsIn(folder: string): Promise<string[]> {
  const names = async (path: string) =>
    (
      await readdir(path).catch((error: unknown) => {
        if (Object(error).code === 'ENOENT') return [];
        throw error;
      })
    ).sort();
  const ids: string[] = [];
  for (const head of await names(folder)) {
    if (!/^[0-9a-f]{2}$/.test(head)) continue;
    for (const rest of await names(join(folder, head))) {
      if (/^[0-9a-f]{62}$/.test(rest)) ids.push(head + rest);
    }
  }
  return ids;
}

/** Moves secrets and tokens to a store that encrypts them. */
export function moveSecrets(from: FileSecrets, to: Required<SecretStore>): Move {
  const valueIn = async (store: Pick<SecretStore, 'get'>, ref: string) => {
    try {
      return await store.get(ref);
    } catch (error) {
      if (errorCodeOf(error) === 'SECRET_NOT_FOUND') return undefined;
      throw error;
    }
  };
  const digestIn = async (store: Pick<SecretStore, 'get'>, ref: string) => {
    const value = await valueIn(store, ref);
    return value === undefined ? undefined : digestOf(value);
  };
  return {
    atOnce: 8,
    async *items() {
      for (const ref of await from.list()) {
        yield {
          name: ref,
          source: () => digestIn(from, ref),
          target: () => digestIn(to, ref),
          async copy(replace) {
            const [here, there] = [await from.get(ref), await valueIn(to, ref)];
            if (here === there) return 'there';
            if (there !== undefined && !replace) return 'other';
            await to.set(ref, here);
            return 'moved';
          },
        };
      }
    },
  };
}
