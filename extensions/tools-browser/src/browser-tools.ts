import type { AnyTool } from '@ethosagent/types';
import { createBrowserBackTool } from './browser-back.js';
import { createBrowserClickTool } from './browser-click.js';
import { createBrowserCloseTool } from './browser-close.js';
import { createBrowserConsoleTool } from './browser-console.js';
import { createBrowserDownloadTool } from './browser-download.js';
import { BrowserHub } from './browser-hub.js';
import { createBrowserNavigateTool } from './browser-navigate.js';
import { createBrowserPressTool } from './browser-press.js';
import { createBrowserScreenshotTool } from './browser-screenshot.js';
import { createBrowserScrollTool } from './browser-scroll.js';
import { createBrowserSelectTool } from './browser-select.js';
import { createBrowserSnapshotTool } from './browser-snapshot.js';
import { createBrowserTypeTool } from './browser-type.js';
import { createBrowserUploadTool } from './browser-upload.js';
import { createBrowserWaitTool } from './browser-wait.js';

/**
 * The tools of the browser. They share the browsers that they start: one for each session and
 * personality, which ends with the session.
 */
export function createBrowserTools(): AnyTool[] {
  const hub = new BrowserHub();
  return [
    createBrowserNavigateTool(hub),
    createBrowserSnapshotTool(hub),
    createBrowserClickTool(hub),
    createBrowserTypeTool(hub),
    createBrowserSelectTool(hub),
    createBrowserPressTool(hub),
    createBrowserScrollTool(hub),
    createBrowserBackTool(hub),
    createBrowserWaitTool(hub),
    createBrowserConsoleTool(hub),
    createBrowserScreenshotTool(hub),
    createBrowserUploadTool(hub),
    createBrowserDownloadTool(hub),
    createBrowserCloseTool(hub),
  ];
}
