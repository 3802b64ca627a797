import type { Locator } from 'playwright-core';
import type { Deadline } from './deadline.js';

/** What is to be done with an element. */
export type ElementAction = 'click' | 'fill' | 'choose';

const STATES = {
  click: ['enabled'],
  fill: ['visible', 'enabled', 'editable'],
  choose: ['visible', 'enabled'],
} as const satisfies Record<ElementAction, readonly string[]>;

/**
 * Waits for what the library would wait for within the action itself. What the element is must be
 * compared after that wait, as a page may change it meanwhile.
 */
export async function awaitReady(
  locator: Locator,
  action: ElementAction,
  deadline: Deadline,
): Promise<void> {
  const options = { timeout: deadline.leftMs() * 0.8, signal: deadline.signal };
  // A pointer that comes is what the click begins with. The trial of a click would press the button,
  // and hide it from those listeners alone that the page has added later.
  if (action === 'click') await locator.hover({ ...options, trial: true });
  const element = await locator.elementHandle(options);
  if (element === null) return;
  try {
    for (const state of STATES[action]) {
      await deadline.race(element.waitForElementState(state, { timeout: options.timeout }));
    }
  } finally {
    element.dispose().catch(() => {});
  }
}
