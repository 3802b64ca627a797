import { ScopedAttachmentsImpl } from '../scoped/scoped-attachments.js';
import { defineCapability } from './capability-module.js';
import { declaredPart } from './declared-part.js';
import { listProblem, problem, quote } from './shapes.js';

/** The files that came with the turn, through `attachments`. */
export const attachments = defineCapability('attachments', {
  shapeProblem: (declared) => {
    const { mediaTypes }: { mediaTypes?: unknown } = Object(declared);
    return mediaTypes === undefined ? undefined : listProblem('attachments.mediaTypes', mediaTypes);
  },
  malformed: ({ mediaTypes = [] }) =>
    mediaTypes.flatMap((type) =>
      /^[\w.+-]+\/(\*|[\w.+-]+)$|^\*\/\*$/.test(type)
        ? []
        : [problem('attachments', `${quote(type)} is not a media type`)],
    ),
  compile: ({ mediaTypes }, { backends }) => ({
    bind: ({ scope, registry, accessors }) => {
      accessors.attachments = new ScopedAttachmentsImpl(registry?.attachments ?? [], {
        mediaTypes,
        store: backends.attachments,
        scope,
      });
    },
    why: (_, { tool }) => ({
      declared: declaredPart('attachments.mediaTypes', mediaTypes ?? ['*/*']),
      policy: tool(),
    }),
    describe: () => ({ attachments: { mediaTypes: mediaTypes ?? ['*/*'] } }),
  }),
});
