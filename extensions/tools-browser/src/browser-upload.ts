import { posix } from 'node:path';
import { defineTool, err } from '@ethosagent/plugin-sdk';
import type { ScopedFs, Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { asksBefore } from './browser-settings.js';
import { elementOf, onPage, showPage } from './call-browser.js';
import { andSettle } from './settle.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';
import { ASKED_FOR_FILE } from './watch-page.js';

const NAME = 'browser_upload';
const MAX_BYTES = 20_000_000;
const FOLDER_FIELD = 'xpath=self::input[@webkitdirectory]';
const FILE_FIELD = 'xpath=self::input[translate(@type, "FILE", "file") = "file"]';

const input = z.object({
  ref: refSchema.describe('The field, button or place, by its ref.'),
  paths: z
    .array(z.string().min(1).max(4_096))
    .min(1)
    .max(10)
    .describe('The paths of the files: absolute, or relative to the working directory.'),
  drop: z
    .boolean()
    .default(false)
    .describe('Drop the files on the element, as if they came from outside the browser.'),
});

/** Creates `browser_upload`, which gives files to a page. Needs `fs_reach.read`. */
export function createBrowserUploadTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description:
      'Give files that this agent may read to a field of the page, to a button that asks for files, or to a place where files are dropped.',
    input,
    capabilities: { fs_reach: { read: 'from-personality' } },
    effects: ['send'],
    requiresApproval: asksBefore(NAME),
    async execute({ ref, paths, drop }, ctx) {
      const files = paths.map((path) => posix.resolve(ctx.workingDir, path));
      if (ctx.dryRun) return wouldDo(`give ${files.join(', ')} to ${ref}`);
      return onPage(hub, { ctx, totalMs: ctx.settings.action_timeout_ms }, async (call) => {
        const { deadline, page } = call;
        const element = await elementOf(call, ref);
        if ('failure' in element) return element.failure;
        const takesFolder = await deadline.race(element.locator.locator(FOLDER_FIELD).count());
        if (takesFolder > 0) return err('The field takes a folder, which can not be given.');
        const payloads = await read(ctx.scopedFs, files);
        if (payloads === undefined) {
          return err(`The files have more than ${MAX_BYTES} bytes together. Give less at a time.`);
        }
        const options = { timeout: deadline.leftMs() * 0.8, signal: deadline.signal };
        const isField = await deadline.race(element.locator.locator(FILE_FIELD).count());
        // The page may have changed while the files were read, and an element that is not a file input is clicked.
        const now = await elementOf(call, ref, isField > 0 || drop ? undefined : 'click');
        if ('failure' in now) return now.failure;
        await andSettle(call, async () => {
          if (drop) return element.locator.drop({ files: payloads }, options);
          if (isField > 0) return element.locator.setInputFiles(payloads, options);
          const chooser = page.waitForEvent('filechooser', options);
          chooser.catch(() => {});
          await element.locator.click(options);
          await (await deadline.race(chooser)).setFiles(payloads, { timeout: options.timeout });
          // The file chooser of the page was expected, so it is not reported.
          call.session.notices.drop(ASKED_FOR_FILE);
        });
        const names = payloads.map(({ name }) => name).join(', ');
        return showPage(call, ctx, {
          said: `Gave ${names} to ${element.name}.`,
          onlyChanges: true,
        });
      });
    },
  });
}

async function read(fs: ScopedFs, files: string[]) {
  const payloads: Array<{ name: string; mimeType: string; buffer: Buffer }> = [];
  let total = 0;
  for (const file of files) {
    const bytes = await fs.readBytes(file);
    total += bytes.length;
    if (total > MAX_BYTES) return undefined;
    payloads.push({
      name: posix.basename(file),
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(bytes),
    });
  }
  return payloads;
}
