/** The names of Chromium browsers on the `PATH`, the preferred one first. */
export const CHROMIUM_NAMES = [
  // The same browser without windows, which starts in less than half the time.
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
] as const;
