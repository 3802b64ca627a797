/** What a Chromium is called on the `PATH`, the one to be preferred first. */
export const CHROMIUM_NAMES = [
  // The same browser without windows, which starts in less than half the time.
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
] as const;
