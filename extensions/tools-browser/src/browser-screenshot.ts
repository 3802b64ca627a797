import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { oneLine } from '@ethosagent/policy';
import type { Tool, ToolResult } from '@ethosagent/types';
import type { Locator, Page } from 'playwright-core';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { elementOf, onPage, type PageCall } from './call-browser.js';
import { hidingInUrl } from './hidden-values.js';
import { MAX_HEIGHT, wholePage } from './page-size.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';

/** The formats to try, from the best image to the smallest. */
const FORMATS = [
  { type: 'png' },
  { type: 'jpeg', quality: 75 },
  { type: 'jpeg', quality: 30 },
] as const;

const input = z
  .object({
    full_page: z
      .boolean()
      .default(false)
      .describe(`Take the whole page, up to ${MAX_HEIGHT} pixels, and not only the part in view.`),
    ref: refSchema.optional().describe('Only this element.'),
  })
  .refine(
    ({ full_page, ref }) => !full_page || ref === undefined,
    'expected full_page or ref, not both',
  );

/** Creates `browser_screenshot`, which takes a picture of the page, or of an element. */
export function createBrowserScreenshotTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: 'browser_screenshot',
    description:
      'Take a picture of the page that is open in the browser, or of one element. To act on a page use browser_snapshot: a picture has no refs.',
    input,
    capabilities: {},
    effects: [],
    async execute({ full_page, ref }, ctx) {
      if (ctx.dryRun) return wouldDo('take a picture of the page', 'if one is open');
      const { action_timeout_ms, max_image_bytes, viewport } = ctx.settings;
      return onPage(hub, { ctx, totalMs: action_timeout_ms }, async (call) => {
        const { page } = call;
        // Chromium does not draw a page in the background.
        await call.deadline.race(page.bringToFront());
        if (ref !== undefined) {
          const element = await elementOf(call, ref);
          if ('failure' in element) return element.failure;
          const box = await call.deadline.race(element.locator.boundingBox());
          if (box !== null && (box.width > MAX_HEIGHT || box.height > MAX_HEIGHT)) {
            return err(
              `${element.name} is ${Math.round(box.width)} by ${Math.round(box.height)} pixels, and a picture has at most ${MAX_HEIGHT} each way. Take one of an element in it, or of what is in view.`,
            );
          }
          return picture(call, {
            of: element.locator,
            what: element.name,
            maxBytes: max_image_bytes,
          });
        }
        const options = full_page ? { fullPage: true, clip: await wholePage(call, viewport) } : {};
        const what = full_page ? 'the page' : 'what is in view';
        return picture(call, { of: page, options, what, maxBytes: max_image_bytes });
      });
    },
  });
}

interface PictureOptions {
  of: Page | Locator;
  /** Which part of the page to take. */
  options?: {
    fullPage?: boolean;
    clip?: { x: number; y: number; width: number; height: number };
  };
  /** What the picture shows, in words for the model. */
  what: string;
  maxBytes: number;
}

async function picture(
  { deadline, page, session }: PageCall,
  { of, options, what, maxBytes }: PictureOptions,
): Promise<ToolResult> {
  for (const format of FORMATS) {
    const bytes = await deadline.race(
      of.screenshot({ ...options, ...format, timeout: deadline.leftMs(), signal: deadline.signal }),
    );
    if (bytes.length > maxBytes) continue;
    const mediaType = `image/${format.type}`;
    return ok(`A picture of ${what} (${mediaType}, ${bytes.length} bytes).`, {
      structured: {
        url: oneLine(hidingInUrl(session.secrets)(page.url()), 2_000),
        images: [{ mediaType, data: bytes.toString('base64') }],
      },
    });
  }
  return err(`The picture has more than ${maxBytes} bytes. Take one of an element, or of less.`);
}
