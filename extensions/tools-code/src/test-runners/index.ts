import type { Runner } from '../project/runner.js';
import type { TestReport } from '../report.js';
import { bun } from './bun.js';
import { cargoTest } from './cargo-test.js';
import { deno } from './deno.js';
import { goTest } from './go-test.js';
import { gradle } from './gradle.js';
import { jest } from './jest.js';
import { mocha } from './mocha.js';
import { nodeTest } from './node-test.js';
import { phpunit } from './phpunit.js';
import { pytest } from './pytest.js';
import { rspec } from './rspec.js';
import { ava, tap, tape } from './tap.js';
import { testScript } from './test-script.js';
import { vitest } from './vitest.js';

/** The test runners. When signs are equally strong, the first runner with one is taken. */
export const TEST_RUNNERS: readonly Runner<TestReport>[] = [
  vitest,
  jest,
  mocha,
  ava,
  tap,
  tape,
  nodeTest,
  bun,
  deno,
  testScript,
  pytest,
  cargoTest,
  goTest,
  phpunit,
  rspec,
  gradle,
];
