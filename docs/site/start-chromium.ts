import { statSync } from 'node:fs';
import { join } from 'node:path';
import { CHROMIUM_NAMES } from '@ethosagent/policy';
import { type Browser, chromium } from 'playwright-core';

/** The Chromium of this machine, without a window. */
export function startChromium(): Promise<Browser> {
  const paths = CHROMIUM_NAMES.map((name) => join('/usr/bin', name));
  const executablePath = paths.find((path) => statSync(path, { throwIfNoEntry: false }));
  if (executablePath === undefined) throw new Error('there is no Chromium on this machine');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}
