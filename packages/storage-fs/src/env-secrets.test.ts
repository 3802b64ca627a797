import { describe, expect, it } from 'vitest';
import { createEnvSecrets } from './env-secrets.js';

const env = {
  PROVIDERS_OPENWEATHER_APIKEY: 'weather',
  STRIPE_KEY: 'stripe',
  OTHER: 'other',
  EMPTY: '',
};
const secrets = createEnvSecrets({ env, map: { 'a/b': 'OTHER', gone: 'NONE' } });

describe('createEnvSecrets', () => {
  it.each([
    ['providers/openweather/apiKey', 'weather'],
    ['STRIPE_KEY', 'stripe'],
    ['stripe-key', 'stripe'],
    ['a/b', 'other'],
  ])('get(%j) is %j', async (ref, value) => {
    expect(await secrets.get(ref)).toBe(value);
    expect(await secrets.has(ref)).toBe(true);
  });

  it.each(['none', 'empty', 'gone', 'constructor', '__proto__', 'toString'])(
    'get(%j) finds nothing and names the variable, not a value',
    async (ref) => {
      const error = await secrets.get(ref).catch(String);
      expect(error).toMatch(/^EthosError: SECRET_NOT_FOUND: .*set the environment variable/);
      expect(error).not.toMatch(/weather|stripe|other/);
      expect(await secrets.has(ref)).toBe(false);
    },
  );

  it.each(['', '..', 'a//b', 'a\\b', 'a\0b'])('get(%j) is refused', async (ref) => {
    await expect(secrets.get(ref)).rejects.toMatchObject({ code: 'SECRET_NOT_FOUND' });
  });
});
