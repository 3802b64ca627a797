import { type Finding, lineAt } from './finding.js';

/** Loads secretlint at the first text that is screened, because that takes 50 ms. */
async function load() {
  const [{ lintSource }, { creator }, { secretLintProfiler }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
    import('@secretlint/profiler'),
  ]);
  // Up to version 13.0.4 it sets 36 marks for each text, keeps every mark of the process for ever, and
  // goes through all of them at each. The newer ones need Node 22.
  const keepsNothing = Object.assign([], { push: () => 0 });
  Object.assign(secretLintProfiler, {
    perf: { mark() {}, measure() {} },
    entries: keepsNothing,
    measures: keepsNothing,
    executionPromises: keepsNothing,
  });
  return { lintSource, creator };
}

let loading: ReturnType<typeof load> | undefined;

const PRESET = '@secretlint/secretlint-rule-preset-recommend';

/**
 * Finds secrets by the recommended rules of secretlint: keys of further services, connection
 * strings.
 */
export async function lintSecrets(text: string): Promise<Finding[]> {
  loading ??= load();
  const { lintSource, creator } = await loading;
  const { messages } = await lintSource({
    // No file is read. Some rules need a file name beside the content.
    source: { content: text, filePath: 'memory.txt', ext: '.txt', contentType: 'text' },
    options: {
      noPhysicFilePath: true,
      config: { rules: [{ id: PRESET, rule: creator, options: {} }] },
    },
  });
  return messages.map(({ ruleId, range: [begin] }) => ({
    kind: 'secret',
    what: `a secret (rule ${ruleId.replace(/^@secretlint\/secretlint-rule-/, '')})`,
    line: lineAt(text, begin),
  }));
}
