import { describe, expect, it } from 'vitest';
import { isPortAllowed } from './ports.js';

describe('isPortAllowed', () => {
  it.each([80, 443, 8080, 8443, 3000, 50_000])('opens %i', (port) => {
    expect(isPortAllowed(port, false)).toBe(true);
  });

  it.each([2375, 2376, 2379, 3306, 5432, 6379, 9200, 11_211, 27_017])(
    'opens the service port %i only when the rule names it',
    (port) => {
      expect(isPortAllowed(port, false)).toBe(false);
      expect(isPortAllowed(port, true)).toBe(true);
    },
  );

  it.each([0, 1, 22, 25, 53, 110, 143, 993, 6000, 6667, 10_080])(
    'never opens the bad port %i',
    (port) => {
      expect(isPortAllowed(port, false)).toBe(false);
      expect(isPortAllowed(port, true)).toBe(false);
    },
  );
});
