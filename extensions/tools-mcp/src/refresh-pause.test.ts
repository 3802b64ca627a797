import { expect, it } from 'vitest';
import { RefreshPause } from './refresh-pause.js';

it('RefreshPause doubles while a server goes on, up to a minute, and begins anew after a quiet one', () => {
  let now = 0;
  const pause = new RefreshPause(() => now);
  const refresh = () => {
    const ms = pause.nextMs();
    now += ms;
    return ms;
  };
  expect([refresh(), refresh(), refresh()]).toEqual([200, 400, 800]);
  for (let time = 0; time < 20; time++) refresh();
  expect(refresh()).toBe(60_000);
  now += 60_001;
  expect(refresh()).toBe(200);
});
