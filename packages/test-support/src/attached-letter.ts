const text = 'Dear Ann,';

/** An attachment with its bytes, for the tool `read_letter`. */
export const LETTER = {
  id: 'letter',
  name: 'letter.txt',
  mediaType: 'text/plain',
  sizeBytes: text.length,
  bytes: new TextEncoder().encode(text),
};

/** A tool that returns the text of the attached letter. */
export const readLetter = {
  name: 'read_letter',
  description: 'Reads the attached letter.',
  schema: { type: 'object', properties: {} },
  capabilities: { attachments: { mediaTypes: ['text/plain'] } },
  async execute(_: unknown, ctx: { attachments?: { read(id: string): Promise<Uint8Array> } }) {
    const bytes = await ctx.attachments?.read(LETTER.id);
    return { ok: true as const, value: new TextDecoder().decode(bytes) };
  },
};
