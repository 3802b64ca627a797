import type { Locator } from 'playwright-core';
import type { Deadline } from './deadline.js';

/** An action on an element. */
export type ElementAction = 'click' | 'fill' | 'choose';

const STATES = {
  click: ['enabled'],
  fill: ['visible', 'enabled', 'editable'],
  choose: ['visible', 'enabled'],
} as const satisfies Record<ElementAction, readonly string[]>;

/**
 * Waits until the element is ready for an action. The library waits inside the action itself, and a
 * hostile page can change the element during that wait. So the tool waits first, and then compares
 * the element.
 */
export async function awaitReady(
  locator: Locator,
  action: ElementAction,
  deadline: Deadline,
): Promise<void> {
  const options = { timeout: deadline.leftMs() * 0.8, signal: deadline.signal };
  // A click begins with a hover, so this waits for a hover. A trial click would press the button, and would
  // only hide the press from listeners that the page added later.
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
