import { posix } from 'node:path';
import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { onPage, type PageCall } from './call-browser.js';
import { wholePage } from './page-size.js';
import { TOOL_BASE, wouldDo } from './tool-base.js';

const MAX_BYTES = 20_000_000;
const ENDINGS = /\.(?:pdf|png|jpe?g)$/i;

const input = z.object({
  path: z
    .string()
    .max(4_096)
    .regex(ENDINGS, 'expected a path that ends in .pdf, .png or .jpg')
    .describe(
      'The path of the file. Its ending decides the format: .pdf, .png or .jpg. Nothing is overwritten.',
    ),
  full_page: z
    .boolean()
    .default(true)
    .describe('For a picture: true for the whole page, false for the part in view.'),
});

/**
 * Creates `browser_save`, which saves the page as a PDF or a picture. Needs `fs_reach` to read and
 * write.
 */
export function createBrowserSaveTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: 'browser_save',
    description: 'Save the page that is open in the browser as a PDF or a picture.',
    input,
    capabilities: { fs_reach: { read: 'from-personality', write: 'from-personality' } },
    effects: ['write'],
    async execute({ path, full_page }, ctx) {
      const target = posix.resolve(ctx.workingDir, path);
      if (ctx.dryRun) return wouldDo(`save the page as ${target}`);
      const totalMs = ctx.settings.navigation_timeout_ms;
      return onPage(hub, { ctx, totalMs }, async (call) => {
        if (await ctx.scopedFs.exists(target)) {
          return err(`There is a file at ${target} already. Give another path.`);
        }
        const { viewport } = ctx.settings;
        const bytes = await contentOf(call, target, full_page ? viewport : undefined);
        if (bytes.length > MAX_BYTES) return err(`The file has more than ${MAX_BYTES} bytes.`);
        await ctx.scopedFs.write(target, bytes);
        return ok(`Saved ${target} (${bytes.length} bytes).`, {
          structured: { path: target, sizeBytes: bytes.length },
        });
      });
    },
  });
}

async function contentOf(
  call: PageCall,
  target: string,
  viewport: { width: number; height: number } | undefined,
): Promise<Uint8Array> {
  const { deadline, page } = call;
  if (/\.pdf$/i.test(target)) return deadline.race(page.pdf({ printBackground: true }));
  await deadline.race(page.bringToFront());
  const clip = viewport && { fullPage: true, clip: await wholePage(call, viewport) };
  const type = /\.png$/i.test(target) ? 'png' : 'jpeg';
  const options = { type, timeout: deadline.leftMs(), signal: deadline.signal } as const;
  return deadline.race(page.screenshot({ ...clip, ...options }));
}
