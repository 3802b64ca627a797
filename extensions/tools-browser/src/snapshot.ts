import { EthosError } from '@ethosagent/types';
import type { Page } from 'playwright-core';
import type { BrowserSession } from './browser-session.js';
import type { Deadline } from './deadline.js';
import { hidingInUrl, hidingValues, SECRET_FIELDS, secretValues } from './hidden-values.js';
import type { PageDocument } from './page-document.js';
import { filledFields, nodeWithRef, parseTree, renderTree } from './page-tree.js';

/** A page as text. */
export interface Snapshot {
  url: string;
  title: string;
  lines: string[];
  /** Whether a part of the page is missing. */
  isPartial: boolean;
}

const PASSWORD_FIELD = 'xpath=self::*[translate(@type, "PASWORD", "pasword") = "password"]';
const MAX_FIELDS = 200;
const TITLE_CHARS = 200;
const DEAD_FRAME_MS = 1_500;
/** The depths to try, in order. A page that is too large is shown only down to a depth. */
const DEPTHS = [undefined, 12, 5] as const;

/** Takes a snapshot of the shown page. Its refs replace the earlier ones. */
export async function takeSnapshot(
  session: BrowserSession,
  deadline: Deadline,
): Promise<{ snapshot: Snapshot; document: PageDocument }> {
  const { page } = session;
  if (page === undefined) throw new EthosError('CALL_ENDED', 'no page is open');
  await session.settleDocument(deadline);
  const { document } = session;
  const { frames } = document;
  await document.hold(page, deadline);
  const { json, isWhole } = await readTree(session, page, deadline);
  const { tree, isPartial } = parseTree(json);
  const secretRefs = await secretsAmong(page, filledFields(tree), deadline);
  const values = await secretValues(page, deadline);
  session.remember(values);
  const hide = hidingValues(values);
  const refOf = (libraryRef: string) => document.refOf(libraryRef);
  const rendered = renderTree(tree, { refOf, secretRefs, hide });
  const title = await deadline.race(page.title());
  await session.settleDocument(deadline);
  if (session.document === document) {
    document.known = rendered.known;
    // A frame may show another document now, so its refs are forgotten.
    if (document.frames !== frames) document.forgetFrames();
  }
  const snapshot = {
    // A form may have sent field values of the previous page to this one.
    url: hidingInUrl(session.secrets)(page.url()),
    title: hidingValues(session.secrets)(title).slice(0, TITLE_CHARS),
    lines: rendered.lines,
    isPartial: !isWhole || isPartial || rendered.isPartial,
  };
  return { snapshot, document };
}

/**
 * Reads an element of a snapshot as it is now. Returns `undefined` when its role or its name has
 * changed, because the library then gives it another ref.
 */
export async function elementNow(
  { session, page, deadline }: { session: BrowserSession; page: Page; deadline: Deadline },
  ref: string,
): Promise<ReturnType<typeof nodeWithRef>> {
  const { json } = await readTree(session, page, deadline);
  return nodeWithRef(parseTree(json).tree, ref);
}

async function readTree(
  session: BrowserSession,
  page: Page,
  deadline: Deadline,
): Promise<{ json: unknown; isWhole: boolean }> {
  const before = session.oversized;
  for (const depth of DEPTHS) {
    const stop = new AbortController();
    // The library would retry, as if the page were not ready.
    const tooLarge = setInterval(() => {
      if (session.oversized > before + DEPTHS.indexOf(depth)) stop.abort();
    }, 50);
    try {
      const signal = AbortSignal.any([stop.signal, deadline.signal]);
      const options = { mode: 'ai', signal, timeout: timeFor(page, deadline) } as const;
      const asked = page.ariaSnapshotJSON(depth === undefined ? options : { ...options, depth });
      return { json: await deadline.race(asked), isWhole: depth === undefined };
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      clearInterval(tooLarge);
    }
  }
  return { json: ['The page is too large to be shown.'], isWhole: false };
}

/**
 * The time limit of a snapshot. A frame whose URL was refused is never loaded and does not answer. When the
 * time is over, the snapshot has the other frames.
 */
function timeFor(page: Page, deadline: Deadline): number {
  const hasDeadFrame = page.frames().some((frame) => frame.url() === '');
  return Math.min(deadline.leftMs() * 0.7, hasDeadFrame ? DEAD_FRAME_MS : Number.POSITIVE_INFINITY);
}

/** Returns those of these fields that are for passwords. */
async function secretsAmong(
  page: Page,
  refs: readonly string[],
  deadline: Deadline,
): Promise<ReadonlySet<string>> {
  const secret = new Set<string>(refs.slice(MAX_FIELDS));
  if (refs.length === 0) return secret;
  const counts = await deadline.race(
    Promise.all(
      page
        .frames()
        .filter((frame) => frame.url() !== '')
        .map((frame) =>
          frame
            .locator(SECRET_FIELDS)
            .count()
            .catch(() => 1),
        ),
    ),
  );
  if (counts.every((count) => count === 0)) return secret;
  const looks = refs.slice(0, MAX_FIELDS).map(async (ref) => {
    const field = page.getByRef(ref).locator(PASSWORD_FIELD);
    if ((await field.count().catch(() => 1)) > 0) secret.add(ref);
  });
  await deadline.race(Promise.all(looks));
  return secret;
}
