import type { AnyTool } from '@ethosagent/types';
import { createBrowserBackTool } from './browser-back.js';
import { createBrowserClickTool } from './browser-click.js';
import { createBrowserCloseTool } from './browser-close.js';
import { createBrowserConsoleTool } from './browser-console.js';
import { createBrowserDialogTool } from './browser-dialog.js';
import { createBrowserDownloadTool } from './browser-download.js';
import { createBrowserDragTool } from './browser-drag.js';
import { createBrowserEvaluateTool } from './browser-evaluate.js';
import { createBrowserFillTool } from './browser-fill.js';
import { createBrowserFindTool } from './browser-find.js';
import { createBrowserHoverTool } from './browser-hover.js';
import { BrowserHub } from './browser-hub.js';
import { createBrowserNavigateTool } from './browser-navigate.js';
import { createBrowserNetworkTool } from './browser-network.js';
import { createBrowserPressTool } from './browser-press.js';
import { createBrowserSaveTool } from './browser-save.js';
import { createBrowserScreenshotTool } from './browser-screenshot.js';
import { createBrowserScrollTool } from './browser-scroll.js';
import { createBrowserSelectTool } from './browser-select.js';
import { createBrowserSnapshotTool } from './browser-snapshot.js';
import { createBrowserTabsTool } from './browser-tabs.js';
import { createBrowserTypeTool } from './browser-type.js';
import { createBrowserUploadTool } from './browser-upload.js';
import { createBrowserWaitTool } from './browser-wait.js';

/**
 * Creates the tools of the browser. They share the browsers that they start: one for each session
 * and personality, which ends with the session. All set `outputIsUntrusted` and `supportsDryRun`.
 * Use the array in one registry only: two registries would share browsers between sessions with the
 * same id.
 *
 * @returns the tools, ready to register
 */
export function createBrowserTools(): AnyTool[] {
  const hub = new BrowserHub();
  return [
    createBrowserNavigateTool(hub),
    createBrowserSnapshotTool(hub),
    createBrowserFindTool(hub),
    createBrowserClickTool(hub),
    createBrowserTypeTool(hub),
    createBrowserFillTool(hub),
    createBrowserSelectTool(hub),
    createBrowserPressTool(hub),
    createBrowserHoverTool(hub),
    createBrowserDragTool(hub),
    createBrowserDialogTool(hub),
    createBrowserScrollTool(hub),
    createBrowserBackTool(hub),
    createBrowserTabsTool(hub),
    createBrowserWaitTool(hub),
    createBrowserConsoleTool(hub),
    createBrowserNetworkTool(hub),
    createBrowserEvaluateTool(hub),
    createBrowserScreenshotTool(hub),
    createBrowserSaveTool(hub),
    createBrowserUploadTool(hub),
    createBrowserDownloadTool(hub),
    createBrowserCloseTool(hub),
  ];
}
