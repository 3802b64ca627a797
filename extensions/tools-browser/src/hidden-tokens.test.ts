import { describe, expect, it } from 'vitest';
import { shownBody, shownUrl } from './hidden-tokens.js';

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.dBjftJeZ4CVP-mB92K27uhbUJU1p1r';

describe('shownUrl', () => {
  it.each([
    ['https://user:pass@a.test/x', 'https://a.test/x'],
    ['https://a.test/x?q=red+shoes&page=2', 'https://a.test/x?q=red+shoes&page=2'],
    ['https://a.test/x?token=abc&q=1', 'https://a.test/x?token=(hidden)&q=1'],
    ['https://a.test/x?api_key=abc', 'https://a.test/x?api_key=(hidden)'],
    ['https://a.test/x?X-Amz-Signature=ab12', 'https://a.test/x?X-Amz-Signature=(hidden)'],
    ['https://a.test/cb?code=abc&state=xyz', 'https://a.test/cb?code=(hidden)&state=xyz'],
    ['https://a.test/x#access_token=abc&type=b', 'https://a.test/x#access_token=(hidden)&type=b'],
    [`https://a.test/x?v=${JWT}`, 'https://a.test/x?v=(hidden)'],
    ['https://a.test/reset/Zk3v9Qx8Lm2Pw7Rt5Yb1', 'https://a.test/reset/(hidden)'],
    ['https://a.test/x?%74oken=abc', 'https://a.test/x?%74oken=(hidden)'],
    ['https://a.test/x?%74oken%=abc', 'https://a.test/x?%74oken%=(hidden)'],
    ['https://a.test/x?p=hunter2hunter2', 'https://a.test/x?p=(hidden)'],
    ['https://a.test/x?author=ann&keyword=cup', 'https://a.test/x?author=ann&keyword=cup'],
    [
      'https://a.test/orders/0b6e3f3c-3d8e-4b7c-9a55-1c2d3e4f5a6b',
      'https://a.test/orders/0b6e3f3c-3d8e-4b7c-9a55-1c2d3e4f5a6b',
    ],
    ['https://a.test/a-long-title-of-a-page-2026', 'https://a.test/a-long-title-of-a-page-2026'],
    ['data:text/html,token', 'data:…'],
  ])('%s is shown as %s', (url, shown) => {
    expect(shownUrl(url, ['hunter2hunter2'])).toBe(shown);
  });
});

describe('shownBody', () => {
  it.each([
    ['{"total": 129.5, "name": "Ann"}', '{"total": 129.5, "name": "Ann"}'],
    ['{"access_token": "abc", "n": "1"}', '{"access_token": "(hidden)", "n": "1"}'],
    ['{"password":"a\\"b"}', '{"password":"(hidden)"}'],
    ['{"pin": 1234, "total": 7}', '{"pin": "(hidden)", "total": 7}'],
    ['pass%77ord=abc', 'pass%77ord=(hidden)'],
    ['user=ann&password=abc', 'user=ann&password=(hidden)'],
    [`x ${JWT} y`, 'x (hidden) y'],
  ])('%s is shown as %s', (body, shown) => {
    expect(shownBody(body)).toBe(shown);
  });
});
