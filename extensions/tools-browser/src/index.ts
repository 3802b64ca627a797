export type { BrowserSettings } from './browser-settings.js';
export { browserSettings } from './browser-settings.js';
export { createBrowserTools } from './browser-tools.js';
