import { type Finding, lineAt } from './finding.js';

/** Takes 50 ms to load, which only those pay who write. */
async function load() {
  const [{ lintSource }, { creator }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ]);
  return { lintSource, creator };
}

let loading: ReturnType<typeof load> | undefined;

const PRESET = '@secretlint/secretlint-rule-preset-recommend';

/** What the recommended rules of secretlint find: keys of further services, connection strings. */
export async function lintSecrets(text: string): Promise<Finding[]> {
  loading ??= load();
  const { lintSource, creator } = await loading;
  const { messages } = await lintSource({
    // Nothing is read: the content is given, and some rules want a name.
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
