import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultToolRegistry } from '@ethosagent/core';
import { FsStorage } from '@ethosagent/storage-fs';
import { createBrowserTools } from '@ethosagent/tools-browser';
import { type Driver, type Field, Meter } from './driver.js';

const REF = /^[+ ]*- [\w-]+(?: "(?:[^"\\]|\\.)*")? ([a-z]{2}\d+)/;

export interface OursOptions {
  folder: string;
  host: string;
  chromium: string;
  tokensOf: (text: string) => number;
}

/** Our tools, through a registry as an agent calls them. */
export function ours({
  folder,
  host,
  chromium,
  tokensOf,
}: OursOptions): Driver & { definitions: string } {
  const meter = new Meter(tokensOf);
  const settings = { executable_path: chromium, allow_evaluate: true };
  const registry = new DefaultToolRegistry({
    storage: new FsStorage(),
    personalityFsReach: { read: [folder], write: [folder] },
    personalityNetworkAllow: [host],
    personalityToolSettings: (_id, key) => (key === 'browser' ? settings : undefined),
    approve: () => true,
  });
  registry.registerAll(createBrowserTools());
  const ctx = {
    sessionId: 's',
    sessionKey: 'benchmark',
    platform: 'cli',
    workingDir: folder,
    currentTurn: 1,
    messageCount: 1,
    abortSignal: new AbortController().signal,
    emit: () => {},
  };
  /** What the model has read of the page: the last whole snapshot, and the changes since. */
  let read = '';
  let last = '';
  const call = async (name: string, args: Record<string, unknown>) => {
    last = await meter.call(name, args, async () => {
      const calls = [{ toolCallId: 'c', name: `browser_${name}`, args }];
      const [answer] = await registry.executeParallel(calls, ctx);
      if (answer === undefined) throw new Error('no answer');
      const { result } = answer;
      return result.ok
        ? { text: result.value, isError: false }
        : { text: result.error, isError: true };
    });
    return last;
  };
  const act = async (name: string, args: Record<string, unknown>) => {
    const text = await call(name, args);
    const isWhole = /^URL: /m.test(text) && !/^Changes/m.test(text);
    read = isWhole ? text : `${text}\n${read}`;
  };
  const whole = async () => {
    read = await call('snapshot', {});
  };
  const refOf = (element: string) => {
    const line = read.split('\n').find((one) => one.includes(element) && !one.startsWith('-'));
    return line === undefined ? undefined : REF.exec(line)?.[1];
  };
  const ref = async (element: string) => {
    const known = refOf(element);
    if (known !== undefined) return known;
    await whole();
    const found = refOf(element);
    if (found === undefined) throw new Error(`no ${element} in\n${read}`);
    return found;
  };
  let files = 0;
  const saved = (ending: string) => {
    files += 1;
    return join(folder, `ours-${files}.${ending}`);
  };
  return {
    name: 'tools-browser',
    definitions: JSON.stringify(registry.toDefinitions()),
    ref,
    open: (url, newTab) => act('navigate', newTab ? { url, new_tab: true } : { url }),
    async click(element, { double, right, control } = {}) {
      await act('click', {
        ref: await ref(element),
        ...(double && { double }),
        ...(right && { button: 'right' }),
        ...(control && { modifiers: ['Control'] }),
      });
    },
    async type(element, text, { submit, keys } = {}) {
      await act('type', {
        ref: await ref(element),
        text,
        ...(submit && { submit }),
        ...(keys && { append: true }),
      });
    },
    async fill(fields) {
      const values = await Promise.all(
        fields.map(async ({ element, value }: Field) => ({ ref: await ref(element), value })),
      );
      await act('fill', { fields: values });
    },
    select: async (element, values) => act('select', { ref: await ref(element), values }),
    press: (key) => act('press', { key }),
    hover: async (element) => act('hover', { ref: await ref(element) }),
    drag: async (from, to) => act('drag', { from: await ref(from), to: await ref(to) }),
    async answer(accept, text) {
      const dialog = /dialog ([a-z]{2}\d+)/.exec(last)?.[1];
      await act('dialog', { ref: dialog, accept, ...(text !== undefined && { text }) });
    },
    // Our tools close an alert without a call.
    acknowledge: async () => {},
    upload: async (element, path) => act('upload', { ref: await ref(element), paths: [path] }),
    drop: async (element, path) =>
      act('upload', { ref: await ref(element), paths: [path], drop: true }),
    async download(element) {
      const path = saved('txt');
      await call('download', { ref: await ref(element), path });
      return readFileSync(path, 'utf8');
    },
    evaluate: (script) => call('evaluate', { script }),
    // Our tools show the new tab without a call.
    toNewTab: async () => {},
    tab: (tab) => act('tabs', { action: 'show', tab }),
    closeTab: (tab) => act('tabs', { action: 'close', tab }),
    back: () => act('back', {}),
    async waitFor(text) {
      await call('wait', { text });
    },
    console: () => call('console', {}),
    network: (filter) => call('network', { filter }),
    async answerOf(filter) {
      const list = await call('network', { filter });
      return call('network', { request: Number(/^(\d+)\./m.exec(list)?.[1]) });
    },
    async save(ending) {
      const path = saved(ending);
      await call('save', { path });
      return readFileSync(path).subarray(0, 8).toString('latin1');
    },
    async screenshot() {
      return (await call('screenshot', {})).includes('image/png');
    },
    find: (text) => call('find', { text }),
    async page() {
      await whole();
      return read;
    },
    async says(text) {
      if (last.includes(text)) return true;
      if (!/^(?:Changes|Nothing on|URL: )/m.test(last)) await whole();
      return read.includes(text);
    },
    begin: () => meter.begin(),
    count: () => meter.count(),
    async close() {
      await registry.endAllSessions();
    },
  };
}
