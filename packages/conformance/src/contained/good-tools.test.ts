import { resolve } from 'node:path';
import { countTries, inCheck, unlessLong } from '@ethosagent/test-support';
import type { AnyTool, ServiceScope } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { assertContained } from './assert-contained.js';
import { makeTool as tool } from './fixtures/make-tool.js';
import type { ContainmentOptions } from './options.js';

const weather = tool(
  'weather',
  {
    network: { allowedHosts: ['api.openweathermap.org'] },
    secrets: ['providers/openweather/apiKey'],
  },
  async ({ city = '' }, { scopedFetch, secretsResolver, abortSignal }) => {
    if (city === '') return { ok: false, error: 'city is required', code: 'input_invalid' };
    const key = await secretsResolver?.get('providers/openweather/apiKey');
    const url = `https://api.openweathermap.org/data/2.5/weather?q=${encodeURIComponent(city)}&appid=${encodeURIComponent(key ?? '')}`;
    const response = await scopedFetch?.fetch(url, { signal: abortSignal });
    if (response?.ok !== true) {
      return {
        ok: false,
        error: `API ${response?.status}: ${await response?.text()}`,
        code: 'execution_failed',
      };
    }
    const data = JSON.parse(await response.text());
    return { ok: true, value: `${city}: ${data.main?.temp} of ${JSON.stringify(data)}` };
  },
);

const summarizeConfig = tool(
  'summarize_config',
  { fs_reach: { read: 'from-personality', write: 'from-personality' } },
  async ({ path = '' }, { scopedFs }) => {
    const content = (await scopedFs?.read(path)) ?? '';
    const summaryPath = path.replace(/(\.[^.]+)$/, '.summary.txt');
    await scopedFs?.write(summaryPath, `Lines: ${content.split('\n').length}`);
    return { ok: true, value: `Summary written to ${summaryPath}: ${content}` };
  },
);

const reports = tool(
  'reports',
  { fs_reach: { read: ['/data/reports'], write: ['/data/output'] } },
  async ({ name = '' }, { scopedFs }) => {
    const content = (await scopedFs?.read(`/data/reports/${name}`)) ?? '';
    await scopedFs?.write(`/data/output/${name}`, content);
    return { ok: true, value: content };
  },
);

const usageCounter = tool(
  'usage_counter',
  { storage: { scope: 'tool-private', kind: 'kv' } },
  async ({ topic = '' }, { kvStore }) => {
    const count = Number((await kvStore?.get(topic)) ?? 0) + 1;
    await kvStore?.set(topic, String(count));
    return { ok: true, value: `${topic} has been queried ${count} time(s).` };
  },
);

const fetchUrl = tool(
  'fetch_url',
  { network: { allowedHosts: ['*'] } },
  async ({ url = '' }, { scopedFetch, emit }) => {
    const response = await scopedFetch?.fetch(url);
    const value = (await response?.text()) ?? '';
    emit({ type: 'progress', toolName: 'fetch_url', message: value.slice(0, 100) });
    return { ok: true, value, structured: { url: response?.url } };
  },
);

const gitLog = tool(
  'git_log',
  { process: { allowedBinaries: ['git'] } },
  async ({ count = '' }, { scopedProcess }) => {
    const result = await scopedProcess?.spawn('git', ['log', '-n', count]);
    return { ok: true, value: result?.stdout ?? '', structured: { ...result } };
  },
);

const show = tool(
  'show',
  { fs_reach: { read: 'from-personality' }, process: { allowedBinaries: ['cat'] } },
  async ({ path = '' }, { scopedFs, scopedProcess, workingDir }) => {
    if ((await scopedFs?.exists(path)) !== true) return 'There is no such file.';
    const result = await scopedProcess?.spawn('cat', [resolve(workingDir, path)]);
    return `${result?.stdout}${result?.stderr}`;
  },
);

const remember = tool(
  'remember',
  { memory: { access: 'read-write' }, sessions: { access: 'read' } },
  async ({ text = '' }, { memory, sessions }) => {
    const found = await sessions?.search('note');
    await memory?.change({ kind: 'add', section: 'Heard', text });
    const texts = (await memory?.read())?.sections.map((section) => section.text);
    return JSON.stringify([texts, found?.map(({ message }) => message.text)]);
  },
);

/** What each session keeps open. */
const pages = new Map<string, ServiceScope>();

const keepOpen = tool(
  'keep_open',
  {
    service: { scope: 'session' },
    network: { allowedHosts: ['*'] },
    process: { allowedBinaries: ['cat'] },
  },
  async ({ url = '' }, { services, sessionId, abortSignal }) => {
    let service = pages.get(sessionId);
    if (service === undefined || service.signal.aborted) {
      service = await services?.open();
      if (service === undefined) return 'no service';
      pages.set(sessionId, service);
    }
    const response = await service.scopedFetch?.fetch(url, { signal: abortSignal });
    let copied = '';
    const cat = await service.scopedProcess?.open('cat', [], {
      onOutput: (text) => {
        copied = (copied + text).slice(-1000);
      },
    });
    // When a call ends, what it does in the open service must end too.
    const stop = () => void cat?.stop();
    abortSignal.addEventListener('abort', stop, { once: true });
    try {
      for await (const chunk of response?.body ?? []) await cat?.write(chunk);
      cat?.end();
      await cat?.result;
      return copied;
    } finally {
      abortSignal.removeEventListener('abort', stop);
      await cat?.stop();
    }
  },
);

const delegate = tool(
  'delegate',
  { delegation: { background: true } },
  async ({ prompt = '' }, { delegation }) => {
    const answer = await delegation?.run({ prompt });
    const started = await delegation?.start({ prompt });
    const all = await delegation?.list();
    return `${answer?.result} ${started?.state} ${all?.length}`;
  },
);

const GOOD: Array<[AnyTool, ContainmentOptions]> = [
  [
    weather,
    {
      args: { city: 'Bern' },
      answer: () => Response.json({ main: { temp: 4 } }),
    },
  ],
  [summarizeConfig, { args: ({ file }) => ({ path: file('docs/plan.md') }) }],
  [reports, { args: { name: 'july.txt' }, files: { 'july.txt': 'A fine July.' } }],
  [usageCounter, { args: [{ topic: 'weather' }, { topic: 'news' }] }],
  [fetchUrl, { args: ({ url }) => [{ url: url('/page') }, { url: url('/other?q=1') }] }],
  [
    show,
    {
      args: ({ file }) => ({ path: file('docs/plan.md') }),
      personality: { safety: { process: { sandbox: 'required' } } },
    },
  ],
  [
    remember,
    {
      args: { text: 'A fine July.' },
      personality: { id: 'gardener' },
      ...unlessLong({ scenarios: ['hostile content', 'sessions'] }),
    },
  ],
  [keepOpen, { args: ({ url }) => ({ url: url('/page') }) }],
  [delegate, { args: { prompt: 'Count the files.' } }],
  [gitLog, { args: { count: '3' }, binaries: { git: 'echo "commit $3"' } }],
];

/** These are slow, and similar to others here. */
const SLOW = ['weather', 'fetch_url', 'keep_open', 'git_log', 'reports', 'show'];

describe('assertContained passes', () => {
  for (const [tool, options] of inCheck(GOOD, ([{ name }]) => !SLOW.includes(name))) {
    it(`${tool.name}, which keeps to its context`, async (context) => {
      const { unused, tries } = await assertContained(tool, options);
      expect(unused).toEqual([]);
      for (const [promised, count] of tries) countTries(context, promised, count);
    });
  }
});
