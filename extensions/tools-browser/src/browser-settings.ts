import { z } from 'zod';

/** The key of `tool_settings` for all tools of the browser: they share one. */
export const SETTINGS_KEY = 'browser';

/** The names of the tools that can be made to wait for approval. */
export const ACTING_TOOLS = [
  'browser_navigate',
  'browser_click',
  'browser_type',
  'browser_fill',
  'browser_select',
  'browser_press',
  'browser_hover',
  'browser_drag',
  'browser_dialog',
  'browser_back',
  'browser_upload',
  'browser_download',
] as const;

const milliseconds = (most: number) => z.int().min(100).max(most);

/** What an operator sets for the browser of a personality. */
export const browserSettings = z.strictObject({
  executable_path: z
    .string()
    .startsWith('/')
    .optional()
    .describe('The Chromium to start, by its absolute path. One on the PATH when absent.'),
  max_sessions: z
    .int()
    .min(1)
    .max(64)
    .default(4)
    .describe('Browsers that may run at once, over all sessions.'),
  idle_ms: milliseconds(86_400_000)
    .default(600_000)
    .describe('Milliseconds without a call after which a browser is closed.'),
  viewport: z
    .strictObject({
      width: z.int().min(200).max(3840),
      height: z.int().min(200).max(2160),
    })
    .default({ width: 1280, height: 800 })
    .describe('The size of the page in CSS pixels.'),
  navigation_timeout_ms: milliseconds(300_000)
    .default(30_000)
    .describe('Milliseconds that opening a page, or going back, may take.'),
  action_timeout_ms: milliseconds(120_000)
    .default(10_000)
    .describe('Milliseconds that any other call may take.'),
  max_chars: z
    .int()
    .min(500)
    .max(200_000)
    .default(20_000)
    .describe('Characters of a snapshot that an answer shows at most.'),
  max_image_bytes: z
    .int()
    .min(10_000)
    .max(10_000_000)
    .default(3_000_000)
    .describe('Bytes that a screenshot may have.'),
  max_download_bytes: z
    .int()
    .min(0)
    .max(200_000_000)
    .default(50_000_000)
    .describe('Bytes that a downloaded file may have; 0 for no downloads.'),
  download_dir: z
    .string()
    .min(1)
    .refine((path) => !path.split('/').includes('..'), 'must not hold `..`')
    .default('downloads')
    .describe('The folder of downloads: absolute, or below the working directory.'),
  chromium_sandbox: z
    .boolean()
    .default(true)
    .describe("Chromium's own sandbox. It can't work for root, and is then off."),
  allow_evaluate: z
    .boolean()
    .default(false)
    .describe('Scripts in pages, by browser_evaluate. Each call waits for approval all the same.'),
  ask_before: z
    .array(z.enum(ACTING_TOOLS))
    .default([])
    .describe('The tools of which every call waits for approval.'),
});

/** The settings of the browser, parsed. */
export type BrowserSettings = z.output<typeof browserSettings>;

/** `requiresApproval` of an acting tool. */
export function asksBefore(name: (typeof ACTING_TOOLS)[number]) {
  return (_args: unknown, { settings }: { settings: BrowserSettings }): boolean =>
    settings.ask_before.includes(name);
}
