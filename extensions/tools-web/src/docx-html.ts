const MAX_PART_BYTES = 64 * 1024 * 1024;
const MAX_ALL_BYTES = 96 * 1024 * 1024;
const MAX_PARTS = 200;
/** Matches the parts with text: no images, fonts or programs. */
const WANTED =
  /^(?:\[Content_Types\]\.xml|_rels\/[^/]{1,100}|word\/[^/]{1,100}\.xml|word\/_rels\/[^/]{1,100})$/;

export const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/**
 * Converts a Word document to HTML. A hostile archive is small and unpacks to gigabytes, so only
 * the parts with text are unpacked, and each part only up to its stated size.
 *
 * @throws the errors of the libraries for an invalid file
 */
export async function docxToHtml(bytes: Uint8Array): Promise<string> {
  const [{ unzipSync, zipSync }, { default: mammoth }] = await Promise.all([
    import('fflate'),
    import('mammoth'),
  ]);
  let room = MAX_ALL_BYTES;
  let parts = 0;
  const wanted = unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      if (!WANTED.test(name)) return false;
      parts += 1;
      room -= originalSize;
      if (originalSize > MAX_PART_BYTES || room < 0 || parts > MAX_PARTS) {
        throw new RangeError('the document unpacks to too much');
      }
      return true;
    },
  });
  const plain = Buffer.from(zipSync(wanted, { level: 0 }));
  const { value } = await mammoth.convertToHtml(
    { buffer: plain },
    {
      convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
      externalFileAccess: false,
    },
  );
  return `<main>${value}</main>`;
}
