import { posix } from 'node:path';
import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { oneLine } from '@ethosagent/policy';
import type { ScopedFs, Tool, ToolResult } from '@ethosagent/types';
import type { Download } from 'playwright-core';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { asksBefore } from './browser-settings.js';
import { elementOf, onPage, type PageCall } from './call-browser.js';
import { cleanFileName, numberedName } from './file-names.js';
import { hidingInUrl } from './hidden-values.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';

const NAME = 'browser_download';
const MAX_NUMBER = 100;

const input = z.object({
  ref: refSchema.describe('The link or button that downloads the file, by its ref.'),
  path: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe(
      'Where to save it: absolute, or relative to the working directory. When absent: in the folder of downloads, with the name that the page gives. Nothing is overwritten.',
    ),
});

/**
 * Creates `browser_download`, which clicks an element and saves the file that comes. Needs
 * `fs_reach` to read and write.
 */
export function createBrowserDownloadTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description:
      'Click a link or button of the page that is open in the browser, and save the file that it downloads.',
    input,
    capabilities: { fs_reach: { read: 'from-personality', write: 'from-personality' } },
    effects: ['send', 'write'],
    requiresApproval: asksBefore(NAME),
    async execute({ ref, path }, ctx) {
      const { settings, workingDir } = ctx;
      if (settings.max_download_bytes === 0) {
        return err('The operator allows no downloads (max_download_bytes is 0).', 'not_available');
      }
      const folder = posix.resolve(workingDir, settings.download_dir);
      const target = path === undefined ? undefined : posix.resolve(workingDir, path);
      if (ctx.dryRun) return wouldDo(`click ${ref} and save the file as ${target ?? folder}`);
      return onPage(hub, { ctx, totalMs: settings.navigation_timeout_ms }, async (call) => {
        const element = await elementOf(call, ref, 'click');
        if ('failure' in element) return element.failure;
        const { deadline, session } = call;
        const waiting = session.awaitDownload();
        try {
          const options = { timeout: deadline.leftMs() * 0.8, signal: deadline.signal };
          await element.locator.click(options);
          const download = await deadline.race(waiting.download);
          return await save(download, { folder, target, fs: ctx.scopedFs, call });
        } finally {
          waiting.stop();
        }
      });
    },
  });
}

async function save(
  download: Download,
  {
    folder,
    target,
    fs,
    call,
  }: {
    folder: string;
    target: string | undefined;
    fs: ScopedFs;
    call: PageCall;
  },
): Promise<ToolResult> {
  const { deadline, session } = call;
  const cancel = () => {
    download.cancel().catch(() => {});
  };
  deadline.signal.addEventListener('abort', cancel, { once: true });
  try {
    const name = cleanFileName(download.suggestedFilename());
    const path = await freePath(fs, target ?? posix.join(folder, name), target === undefined);
    if (path === undefined) {
      cancel();
      return err(`There is a file at ${target ?? folder} already. Give another path.`);
    }
    const failure = await deadline.race(download.failure());
    if (failure !== null) {
      return err(
        session.tookTooMuch(download)
          ? `The file has more than ${session.maxDownloadBytes} bytes, which is the most that may be downloaded.`
          : `The file could not be downloaded: ${oneLine(failure, 200)}.`,
      );
    }
    const bytes = await deadline.race(contentOf(download, session.maxDownloadBytes));
    if (bytes === undefined) {
      return err(`The file has more than ${session.maxDownloadBytes} bytes.`);
    }
    await fs.write(path, bytes);
    const url = oneLine(hidingInUrl(session.secrets)(download.url()), 2_000);
    return ok(`Saved ${path} (${bytes.length} bytes).`, {
      structured: { path, sizeBytes: bytes.length, url },
    });
  } finally {
    deadline.signal.removeEventListener('abort', cancel);
    // Remove the browser's own copy.
    download.delete().catch(() => {});
  }
}

async function contentOf(download: Download, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of await download.createReadStream()) {
    const bytes = Buffer.from(chunk);
    total += bytes.length;
    if (total > maxBytes) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Finds a path where there is nothing yet; `undefined` when there is none. */
async function freePath(
  fs: ScopedFs,
  path: string,
  mayNumber: boolean,
): Promise<string | undefined> {
  for (let number = 1; number <= (mayNumber ? MAX_NUMBER : 1); number += 1) {
    const name = numberedName(posix.basename(path), number);
    const candidate = posix.join(posix.dirname(path), name);
    if (!(await fs.exists(candidate))) return candidate;
  }
  return undefined;
}
