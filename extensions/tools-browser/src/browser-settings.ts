import { z } from 'zod';

/** The key in `tool_settings` that all tools of the browser share. */
export const SETTINGS_KEY = 'browser';

/** The names of the tools that an operator can make wait for approval. */
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

/** The schema of the settings that an operator makes under `tool_settings.browser`. */
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
    .describe('How many browsers may run at the same time, over all sessions.'),
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
    .describe("Use Chromium's own sandbox. For root it can't work, so it is off."),
  allow_evaluate: z
    .boolean()
    .default(false)
    .describe(
      'Allow browser_evaluate to run scripts in pages. Each call still waits for approval.',
    ),
  ask_before: z
    .array(z.enum(ACTING_TOOLS))
    .default([])
    .describe('The tools whose calls all wait for approval.'),
});

/** The parsed settings of the browser, with their defaults. */
export type BrowserSettings = z.output<typeof browserSettings>;

/** Returns the `requiresApproval` of an acting tool. */
export function asksBefore(name: (typeof ACTING_TOOLS)[number]) {
  return (_args: unknown, { settings }: { settings: BrowserSettings }): boolean =>
    settings.ask_before.includes(name);
}
