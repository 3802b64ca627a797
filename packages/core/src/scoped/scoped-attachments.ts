import {
  type AttachmentInfo,
  type AttachmentStore,
  CapabilityError,
  EthosError,
  type ScopedAttachments,
  type TurnAttachment,
} from '@ethosagent/types';
import { type AccessScope, recordAccess } from '../access.js';

export interface ScopedAttachmentsOptions {
  /** Media types such as `image/png` or `image/*`. All when absent. */
  mediaTypes?: readonly string[] | undefined;
  /** Where the bytes are that did not come with the turn. */
  store?: AttachmentStore | undefined;
  scope?: AccessScope | undefined;
}

/** The attachments of a turn, held to the declared media types. */
export class ScopedAttachmentsImpl implements ScopedAttachments {
  readonly #attachments: readonly TurnAttachment[];
  readonly #options: ScopedAttachmentsOptions;

  constructor(attachments: readonly TurnAttachment[], options: ScopedAttachmentsOptions = {}) {
    this.#attachments = attachments;
    this.#options = options;
  }

  list(): Promise<AttachmentInfo[]> {
    const access = { capability: 'attachments', operation: 'list', target: '*' } as const;
    return recordAccess(this.#options.scope, access, async () =>
      this.#attachments
        .filter(({ mediaType }) => this.#allows(mediaType))
        .map(({ id, name, mediaType, sizeBytes }) => ({ id, name, mediaType, sizeBytes })),
    );
  }

  /** A copy of the bytes. @throws `ATTACHMENT_NOT_AVAILABLE`, `FILE_NOT_FOUND` */
  read(id: string): Promise<Uint8Array> {
    const access = { capability: 'attachments', operation: 'read', target: String(id) } as const;
    return recordAccess(this.#options.scope, access, async () => {
      const found = this.#attachments.find((attachment) => attachment.id === id);
      if (found === undefined) throw notAvailable(`${id} is not an attachment of this turn`);
      if (!this.#allows(found.mediaType)) {
        throw notAvailable(`${id} is ${found.mediaType}, which the tool did not declare`);
      }
      const bytes = found.bytes ?? (await this.#options.store?.get(id));
      if (bytes === undefined || bytes === null) {
        throw new EthosError('FILE_NOT_FOUND', `the bytes of attachment ${id} are gone`);
      }
      return Uint8Array.from(bytes);
    });
  }

  #allows(mediaType: string): boolean {
    const { mediaTypes } = this.#options;
    if (mediaTypes === undefined) return true;
    const type = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
    return mediaTypes.some((declared) => {
      const pattern = declared.toLowerCase();
      if (pattern === '*/*' || pattern === type) return true;
      return pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1));
    });
  }
}

function notAvailable(detail: string): CapabilityError {
  return new CapabilityError('ATTACHMENT_NOT_AVAILABLE', detail, 'not in the turn');
}
