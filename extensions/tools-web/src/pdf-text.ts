import { z } from 'zod';
import { runThread } from './run-thread.js';

/** The text of a PDF. */
export interface PdfText {
  /** The text. Before each page is a line with its number. */
  text: string;
  pages: number;
  title?: string;
  author?: string;
  /** Whether some of the text is missing. */
  isCut: boolean;
}

/** The text of a PDF, or why it has none. */
export type PdfReading = { ok: true; pdf: PdfText } | { ok: false; reason: string };

/** How much time and memory reading a PDF may take, and how much of it is shown. */
export const PDF_LIMITS = {
  pages: 500,
  chars: 2_000_000,
  heapMb: 256,
  // The limit of one typed array. The unpacked data of a page is in an array that doubles its size.
  arrayBytes: 64 * 1024 * 1024,
  // The limit of all of them, beside the file and its copies.
  allArrayBytes: 256 * 1024 * 1024,
  timeoutMs: 20_000,
};

const message = z.union([
  z.object({
    pages: z.int(),
    texts: z.array(z.string()),
    isCut: z.boolean(),
    title: z.string().optional(),
    author: z.string().optional(),
  }),
  z.object({ error: z.string() }),
]);

/**
 * The program of the thread. It is a text, so that the built package needs no file for it. Nothing
 * in a PDF is evaluated: `isEvalSupported` is off, and PDF.js runs no scripts of documents.
 */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { getHeapStatistics } = require('node:v8');
const { bytes, limits, library } = workerData;
const say = (value) => parentPort.postMessage({ value, isLast: true });
// PDF.js unpacks without a limit, and what typed arrays hold is no part of the limits of a thread.
const heldBytes = () => getHeapStatistics().external_memory;
const mostBytes = heldBytes() + limits.allArrayBytes + 2 * bytes.byteLength;
const CHECKED_EVERY = 1024 * 1024;
let unchecked = 0;
for (const name of [
  'ArrayBuffer', 'Uint8Array', 'Uint8ClampedArray', 'Int8Array', 'Uint16Array', 'Int16Array',
  'Uint32Array', 'Int32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array',
]) {
  globalThis[name] = new Proxy(globalThis[name], {
    construct(target, args, self) {
      const [count] = args;
      const asked = typeof count === 'number' ? count * (target.BYTES_PER_ELEMENT ?? 1) : 0;
      unchecked += asked;
      const isTooMuch = asked > limits.arrayBytes ||
        (unchecked > CHECKED_EVERY && heldBytes() + asked > mostBytes);
      if (isTooMuch) throw new RangeError('a part of the file unpacks to too much');
      if (unchecked > CHECKED_EVERY) unchecked = 0;
      return Reflect.construct(target, args, self);
    },
  });
}
(async () => {
  const { getDocumentProxy } = await import(library);
  const pdf = await getDocumentProxy(bytes, {
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    enableXfa: false,
    verbosity: 0,
  });
  const texts = [];
  let chars = 0;
  let isCut = pdf.numPages > limits.pages;
  for (let at = 1; at <= Math.min(pdf.numPages, limits.pages) && chars < limits.chars; at += 1) {
    const page = await pdf.getPage(at);
    const reader = page.streamTextContent().getReader();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (const { str = '', hasEOL } of value.items) text += hasEOL ? str + '\\n' : str;
      if (chars + text.length > limits.chars) {
        isCut = true;
        await reader.cancel(new Error('enough')).catch(() => {});
        break;
      }
    }
    texts.push(text);
    chars += text.length;
    page.cleanup();
  }
  if (texts.length < Math.min(pdf.numPages, limits.pages)) isCut = true;
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const named = (name) => typeof info?.[name] === 'string' && info[name].trim() !== ''
    ? info[name].trim().slice(0, 500) : undefined;
  say({ pages: pdf.numPages, texts, isCut, title: named('Title'), author: named('Author') });
})().catch((error) => say({ error: String(error?.name === 'PasswordException'
  ? 'it is protected by a password' : error?.message ?? error).slice(0, 300) }));
`;

/**
 * Reads the text of a PDF in a thread of its own. The thread ends with the signal, after 20
 * seconds, or when it takes too much memory.
 *
 * @throws the reason of `signal`
 */
export async function readPdf(
  bytes: Uint8Array,
  signal: AbortSignal,
  limits: typeof PDF_LIMITS = PDF_LIMITS,
): Promise<PdfReading> {
  const { value, end } = await runThread(
    {
      program: PROGRAM,
      // A copy, because a transferred buffer is empty for the caller afterwards.
      data: {
        bytes: new Uint8Array(bytes),
        limits,
        library: import.meta.resolve('unpdf'),
      },
      heapMb: limits.heapMb,
      timeoutMs: limits.timeoutMs,
    },
    signal,
  );
  if (end === 'time') {
    return { ok: false, reason: `reading it took longer than ${limits.timeoutMs / 1_000} s` };
  }
  if (end === 'memory') return { ok: false, reason: 'reading it took too much memory' };
  const answer = message.safeParse(value);
  if (!answer.success) return { ok: false, reason: 'it could not be read' };
  if ('error' in answer.data) return { ok: false, reason: answer.data.error };
  const { texts, pages, isCut, title, author } = answer.data;
  const text = texts
    .map((page, at) => `[page ${at + 1} of ${pages}]\n\n${page.toWellFormed().trim()}`)
    .join('\n\n');
  return {
    ok: true,
    pdf: { text, pages, isCut, ...(title && { title }), ...(author && { author }) },
  };
}
