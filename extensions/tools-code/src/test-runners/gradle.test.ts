import { structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { expect, it } from 'vitest';
import { createCodeWorld } from '../fixtures/code-world.js';

const RESULT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="SumTest" tests="3" skipped="1" failures="1" errors="0" time="0.1">
  <properties/>
  <testcase name="adds" classname="SumTest" time="0.002"/>
  <testcase name="fails" classname="SumTest" time="0.003">
    <failure message="expected:&lt;1&gt; but was:&lt;2&gt;" type="java.lang.AssertionError">java.lang.AssertionError: expected:&lt;1&gt; but was:&lt;2&gt;
\tat SumTest.fails(SumTest.java:4)
</failure>
  </testcase>
  <testcase name="later" classname="SumTest" time="0.0"><skipped/></testcase>
  <system-out><![CDATA[<testcase name="forged"/>]]></system-out>
</testsuite>`;

function project(result: string) {
  const world = createCodeWorld();
  world.put('build.gradle', '');
  world.put('result.xml', result);
  world.putBinary(
    'gradle',
    'mkdir -p a/build/test-results/test; cp result.xml a/build/test-results/test/TEST-a.xml; exit 1',
  );
  return world;
}

it('the results of Gradle are read from the folders of its projects', async () => {
  const result = await project(RESULT).run('run_tests', {});
  expect(structuredOf(result)).toMatchObject({
    tool: 'gradle',
    counts: { passed: 1, failed: 1, skipped: 1 },
  });
  expect(textOf(result)).toContain(
    'SumTest > fails\n  java.lang.AssertionError: expected:<1> but was:<2>',
  );
});

it('results of Gradle that another task left are not counted', async () => {
  const world = project(RESULT);
  world.put('a/build/test-results/other/TEST-a.xml', RESULT);
  const result = await world.run('run_tests', {});
  expect(structuredOf(result)).toMatchObject({ counts: { passed: 1, failed: 1, skipped: 1 } });
});

it('results of Gradle that break off are none', async () => {
  const result = await project(RESULT.slice(0, 300)).run('run_tests', {});
  expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
});
