import { describe, expect, it } from 'vitest';
import { createInMemorySessionStore } from '../in-memory-sessions.js';
import { SessionLedgers } from './session-ledgers.js';

describe('UntrustedFiles', () => {
  it('are known to all who go by the same store', async () => {
    const store = createInMemorySessionStore();
    const [one, other] = [new SessionLedgers(store).files, new SessionLedgers(store).files];
    await one.note(['/w/a']);
    expect([...(await other.list())]).toEqual(['/w/a']);
    await other.note(['/w/a', '/w/b']);
    expect([...(await one.list())]).toEqual(['/w/a', '/w/b']);
    expect(await other.clear(['/w/a'])).toEqual(['/w/a']);
    // A path that another process cleared meanwhile is recorded again.
    await one.note(['/w/a']);
    expect([...(await other.list())].sort()).toEqual(['/w/a', '/w/b']);
  });

  it('were read if one of several files is, and pages count for nothing', async () => {
    const store = createInMemorySessionStore();
    const [one, other] = [new SessionLedgers(store).files, new SessionLedgers(store).files];
    const read = (path: string) => ({ kind: 'file' as const, path, real: path });
    const page = { kind: 'url' as const, url: 'https://a.test/w/b' };
    expect(await other.areWritten([read('/w/a'), read('/w/b')])).toBe(false);
    await one.note(['/w/b']);
    expect(await other.areWritten([read('/w/a'), read('/w/b'), page])).toBe(true);
    expect(await other.areWritten([read('/w/a'), page])).toBe(false);
  });

  it('are noted once, and not below a folder that is', async () => {
    const { files } = new SessionLedgers(createInMemorySessionStore());
    await files.note(['/w']);
    await files.note(['/w/a', '/w', '/x']);
    expect([...(await files.list())]).toEqual(['/w', '/x']);
  });

  it('are their folders where there are many, and everything where there are too many', async () => {
    const { files } = new SessionLedgers(createInMemorySessionStore());
    await files.note(Array.from({ length: 1_000 }, (_, at) => `/w/a${at}`));
    await files.note(['/x/a', '/x/b']);
    expect((await files.list()).has('/x')).toBe(true);
    await files.note(Array.from({ length: 3_000 }, (_, at) => `/y${at}/a`));
    await files.note(['/z/a']);
    expect((await files.list()).has('/')).toBe(true);
  });
});
