import type { Project } from './projects.js';

const BODY = (check: string) => `
  it('adds', () => { console.log('noise'); ${check.replace('X', '1 + 1').replace('Y', '2')}; });
  it('fails', () => { ${check.replace('X', '1').replace('Y', '2')}; });
  it.skip('later', () => {});
`;
const manifest = (test: string, more: object = {}) =>
  JSON.stringify({ name: 'written', version: '1.0.0', scripts: { test }, ...more });

/** Small projects of the runners that no package here ships its tests for. */
export const WRITTEN: readonly Project[] = [
  {
    name: 'written for vitest',
    runner: 'vitest',
    install: ['vitest@4'],
    direct: { script: 'test' },
    summary: 'vitest',
    files: {
      'package.json': manifest('MODE=x vitest run', { type: 'module' }),
      'a.test.js': `import { expect, it } from 'vitest';${BODY('expect(X).toBe(Y)')}`,
    },
  },
  {
    name: 'written for jest',
    runner: 'jest',
    install: ['jest@30'],
    direct: { script: 'test' },
    summary: 'jest',
    files: {
      'package.json': manifest('jest'),
      'a.test.js': `${BODY('expect(X).toBe(Y)')}it.todo('some day');`,
    },
  },
  {
    name: 'written for mocha 12',
    runner: 'mocha',
    install: ['mocha@12'],
    direct: { script: 'test' },
    summary: 'mocha',
    files: {
      'package.json': manifest("mocha 'spec/**/*.js'"),
      'spec/a.js': `const assert = require('assert');${BODY('assert.equal(X, Y)')}`,
    },
  },
  {
    name: 'written for ava',
    runner: 'ava',
    install: ['ava@6'],
    direct: { script: 'test' },
    summary: 'ava',
    files: {
      'package.json': manifest('ava', { type: 'module' }),
      'a.test.js': `import test from 'ava';
test('adds', (t) => { console.log('noise'); t.is(1 + 1, 2); });
test('fails', (t) => t.is(1, 2));
test.skip('later', () => {});
test.todo('some day');
`,
    },
  },
  {
    name: 'written for tap 21',
    runner: 'tap',
    install: ['tap@21'],
    direct: { script: 'test' },
    summary: 'tap',
    files: {
      'package.json': manifest('tap --disable-coverage test'),
      'test/a.js': `const t = require('tap');
t.test('sums', (t) => { t.equal(1 + 1, 2); t.equal(1, 2); t.test('later', { skip: true }); t.end(); });
`,
    },
  },
  {
    name: 'written for bun',
    runner: 'bun',
    install: [],
    direct: { script: 'test' },
    summary: 'bun',
    files: {
      'package.json': manifest('bun test'),
      'a.test.js': `import { expect, it } from 'bun:test';${BODY('expect(X).toBe(Y)')}`,
    },
  },
  {
    name: 'written for deno',
    runner: 'deno',
    install: [],
    direct: { command: 'NO_COLOR=1 deno test -A' },
    summary: 'deno',
    files: {
      'package.json': '{"type":"module"}',
      'deno.json': '{"tasks":{"test":"deno test -A"}}',
      'a_test.js': `Deno.test('adds', () => { console.log('noise'); });
Deno.test('fails', () => { throw new Error('no'); });
Deno.test.ignore('later', () => {});
Deno.test('group', async (t) => { await t.step('one', () => {}); });
`,
    },
  },
  {
    name: 'written for RSpec',
    runner: 'rspec',
    install: [],
    direct: { command: 'rspec' },
    summary: 'rspec',
    files: {
      'package.json': '{"private":true}',
      '.rspec': '',
      'spec/a_spec.rb': `RSpec.describe 'sums' do
  it('adds') { puts 'noise'; expect(1 + 1).to eq 2 }
  it('fails') { expect(1).to eq 2 }
  xit('later') { }
end
`,
    },
  },
  {
    name: 'written for PHPUnit',
    runner: 'phpunit',
    install: [],
    direct: { command: 'phpunit' },
    summary: 'phpunit',
    files: {
      'package.json': '{"private":true}',
      'phpunit.xml':
        '<phpunit><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>',
      'tests/ATest.php': `<?php
class ATest extends PHPUnit\\Framework\\TestCase {
  public function testAdds(): void { echo "noise"; $this->assertSame(2, 1 + 1); }
  public function testFails(): void { $this->assertSame(2, 1); }
  public function testLater(): void { $this->markTestSkipped('later'); }
}
`,
    },
  },
];
