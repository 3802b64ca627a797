import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { z } from 'zod';
import { type Driver, Meter } from './driver.js';

/** The versions that are compared with. */
export const PEERS = { '@playwright/mcp': '0.0.83', 'gpt-tokenizer': '4.0.0' };
const OUTPUT = '.playwright-mcp';
/** How often a model would look whether its file has come. */
const MAX_LOOKS = 30;

/** Installs the peer, and the tokenizer that counts, into a folder of their own. */
export function installPeers(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  const names = Object.entries(PEERS).map(([name, version]) => `${name}@${version}`);
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  execFileSync('npm', ['install', ...flags, ...names], { cwd: folder, stdio: 'inherit' });
}

export interface PeerOptions {
  /** Where it is installed. */
  installed: string;
  folder: string;
  chromium: string;
  tokensOf: (text: string) => number;
  /** How it looks at a page: whole, or only for what is wanted. */
  looks: 'snapshot' | 'find';
}

const contentSchema = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  isError: z.boolean().optional(),
});

/** Playwright's MCP server, through the official client. */
export async function peer(options: PeerOptions): Promise<Driver & { definitions: string }> {
  const { installed, folder, chromium, tokensOf, looks } = options;
  const meter = new Meter(tokensOf);
  const cli = join(installed, 'node_modules/@playwright/mcp/cli.js');
  const client = new Client({ name: 'benchmark', version: '1' });
  const flags = ['--headless', '--isolated', '--no-sandbox', '--caps', 'pdf'];
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [cli, ...flags, '--executable-path', chromium],
      cwd: folder,
      stderr: 'ignore',
    }),
  );
  const { tools } = await client.listTools();
  const definitions = JSON.stringify(
    tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  );
  let read = '';
  let last = '';
  const call = async (name: string, args: Record<string, unknown>) => {
    last = await meter.call(name, args, async () => {
      const answer = contentSchema.parse(
        await client.callTool({ name: `browser_${name}`, arguments: args }),
      );
      const text = answer.content.map((part) => part.text ?? `<${part.type}>`).join('\n');
      return { text, isError: answer.isError === true };
    });
    return last;
  };
  /** Actions that change the page. After them, the earlier snapshot is void. */
  const act = async (name: string, args: Record<string, unknown>) => {
    await call(name, args);
    if (/### Snapshot/.test(last)) read = '';
  };
  const whole = async () => {
    read = await call('snapshot', {});
  };
  const refOf = (element: string, text: string) => {
    const line = text.split('\n').find((one) => one.includes(element) && one.includes('[ref='));
    return line === undefined ? undefined : /\[ref=(\w+)\]/.exec(line)?.[1];
  };
  const ref = async (element: string) => {
    // Refs of the page before the last action may still hold, and are tried first.
    const known = refOf(element, read);
    if (known !== undefined) return known;
    if (looks === 'find') read += await call('find', { text: element });
    else await whole();
    const found = refOf(element, read);
    if (found === undefined) throw new Error(`no ${element} in\n${read}`);
    return found;
  };
  const outputs = () => (existsSync(join(folder, OUTPUT)) ? readdirSync(join(folder, OUTPUT)) : []);
  return {
    name: looks === 'find' ? 'Playwright MCP, by browser_find' : 'Playwright MCP',
    definitions,
    ref,
    async open(url, newTab) {
      read = '';
      if (newTab) await act('tabs', { action: 'new', url });
      else await act('navigate', { url });
    },
    async click(element, { double, right, control } = {}) {
      await act('click', {
        target: await ref(element),
        ...(double && { doubleClick: true }),
        ...(right && { button: 'right' }),
        ...(control && { modifiers: ['Control'] }),
      });
    },
    async type(element, text, { submit, keys } = {}) {
      await act('type', {
        target: await ref(element),
        text,
        ...(submit && { submit }),
        ...(keys && { slowly: true }),
      });
    },
    async fill(fields) {
      const all: object[] = [];
      for (const { element, kind, value } of fields) {
        all.push({ target: await ref(element), name: element, type: kind, value });
      }
      await act('fill_form', { fields: all });
    },
    select: async (element, values) => act('select_option', { target: await ref(element), values }),
    press: (key) => act('press_key', { key }),
    hover: async (element) => act('hover', { target: await ref(element) }),
    drag: async (from, to) =>
      act('drag', { startTarget: await ref(from), endTarget: await ref(to) }),
    answer: (accept, text) =>
      act('handle_dialog', { accept, ...(text !== undefined && { promptText: text }) }),
    acknowledge: () => act('handle_dialog', { accept: true }),
    async upload(element, path) {
      await act('click', { target: await ref(element) });
      await act('file_upload', { paths: [path] });
    },
    drop: async (element, path) => act('drop', { target: await ref(element), paths: [path] }),
    async download(element) {
      const before = outputs();
      await act('click', { target: await ref(element) });
      for (let look = 0; look < MAX_LOOKS; look += 1) {
        const came = outputs().find((name) => !before.includes(name) && !/\.yml$/.test(name));
        if (came !== undefined && last.includes(basename(came))) {
          return readFileSync(join(folder, OUTPUT, came), 'utf8');
        }
        // A file that comes after an answer stands in the next one.
        await call('wait_for', { time: 1 });
      }
      throw new Error('no file came');
    },
    evaluate: (script) => call('evaluate', { function: script }),
    tab: async (number) => {
      read = '';
      await act('tabs', { action: 'select', index: number - 1 });
    },
    async toNewTab() {
      read = '';
      if (!/^- 1: /m.test(last)) await call('tabs', { action: 'list' });
      if (!/^- 1: \(current\)/m.test(last)) await act('tabs', { action: 'select', index: 1 });
    },
    closeTab: async (number) => {
      read = '';
      await act('tabs', { action: 'close', index: number - 1 });
    },
    back: () => act('navigate_back', {}),
    async waitFor(text) {
      await act('wait_for', { text });
    },
    console: () => call('console_messages', {}),
    network: (filter) => call('network_requests', { filter }),
    async answerOf(filter) {
      const list = await call('network_requests', { filter });
      const index = Number(/^(\d+)\./m.exec(list)?.[1]);
      return call('network_request', { index, part: 'response-body' });
    },
    async save(ending) {
      const filename = `peer-${performance.now()}.${ending}`;
      if (ending === 'pdf') await call('pdf_save', { filename });
      else await call('take_screenshot', { filename, fullPage: true });
      return readFileSync(join(folder, filename)).subarray(0, 8).toString('latin1');
    },
    async screenshot() {
      return (await call('take_screenshot', {})).includes('<image>');
    },
    find: (text) => call('find', { text }),
    async page() {
      await whole();
      return read;
    },
    async says(text) {
      if (last.includes(text)) return true;
      if (looks === 'find') return !(await call('find', { text })).includes('No matches');
      await whole();
      return read.includes(text);
    },
    begin: () => meter.begin(),
    count: () => meter.count(),
    close: () => client.close(),
  };
}
