import { copyBytes } from '@ethosagent/policy';
import {
  type AttachmentInfo,
  type AttachmentStore,
  CapabilityError,
  EthosError,
  type ScopedAttachments,
  type TurnAttachment,
} from '@ethosagent/types';
import { type AccessAsked, type AccessScope, recordAccess, textOf } from '../access.js';
import { answerOf, isBytesOrNull } from '../checked/check-answer.js';

const STORE = { code: 'STORAGE_FAILED', name: 'the attachment store' } as const;

export interface ScopedAttachmentsOptions {
  /** Media types such as `image/png` or `image/*`. All if absent. */
  mediaTypes?: readonly string[] | undefined;
  /** The store of bytes that did not come with the turn. */
  store?: AttachmentStore | undefined;
  scope?: AccessScope | undefined;
}

/** The attachments of a turn, limited to the declared media types. */
export class ScopedAttachmentsImpl implements ScopedAttachments {
  readonly #attachments: readonly TurnAttachment[];
  readonly #options: ScopedAttachmentsOptions;

  /**
   * The attachments of one call.
   *
   * @param attachments of the turn
   * @param options the media types that the tool declared, the store of the bytes, and the scope of
   * the call
   */
  constructor(attachments: readonly TurnAttachment[], options: ScopedAttachmentsOptions = {}) {
    this.#attachments = attachments;
    this.#options = options;
  }

  list(): Promise<AttachmentInfo[]> {
    return recordAccess(this.#options.scope, this.#access('list', '*'), async () =>
      this.#attachments
        .filter(({ mediaType }) => this.#allows(mediaType))
        .map(({ id, name, mediaType, sizeBytes }) => ({ id, name, mediaType, sizeBytes })),
    );
  }

  /** A copy of the bytes. @throws `ATTACHMENT_NOT_AVAILABLE`, `FILE_NOT_FOUND`, `VALUE_INVALID` */
  read(id: string): Promise<Uint8Array> {
    const name = textOf(id);
    return recordAccess(this.#options.scope, this.#access('read', name), async (allow) => {
      // A store gives equal bytes one id, whatever names and media types they have.
      const same = this.#attachments.filter((attachment) => attachment.id === id);
      const [first] = same;
      if (first === undefined)
        throw notAvailable(`${name} is not an attachment of this turn`, 'not in the turn');
      const found = same.find(({ mediaType }) => this.#allows(mediaType));
      if (found === undefined) {
        const detail = `${name} is ${first.mediaType}, which the tool did not declare`;
        throw notAvailable(detail, 'media type not declared');
      }
      allow();
      const bytes = found.bytes ?? (await this.#fromStore(id));
      if (bytes === null) {
        throw new EthosError(
          'FILE_NOT_FOUND',
          `the bytes of attachment ${id} are gone; ask the user to attach it again`,
        );
      }
      return copyBytes(bytes, name);
    });
  }

  async #fromStore(id: string): Promise<Uint8Array | null> {
    const { store } = this.#options;
    return store === undefined
      ? null
      : answerOf({ kind: STORE, method: 'get', isAnswer: isBytesOrNull }, () => store.get(id));
  }

  #access(operation: string, target: string): AccessAsked {
    const types = this.#options.mediaTypes?.join(', ') ?? '*/*';
    return { capability: 'attachments', operation, target, rule: `media types ${types}` };
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

function notAvailable(detail: string, rule: string): CapabilityError {
  return new CapabilityError('ATTACHMENT_NOT_AVAILABLE', detail, rule);
}
