/** Drawing of first pages: the limits of what runs at once, and failures that are kept. Source: docs/decisions/0430-picture-of-the-first-page.md. */
import { systemClock } from '@sealwright/runtime';
import test from 'ava';
import type { SigningPool } from '../../../../actors/pool/pool.ts';
import type { PoolReply, PoolTask } from '../../../../actors/pool/tasks.ts';
import { FirstPages } from '../../../../actors/portal/signing/first-pages.ts';
import { beginsWithFirstSheet } from '../../../../web/pages/portal/document-part.tsx';
import { reached } from '../../../project/waiting.ts';
import { ORIGIN, portalFixture, signer } from '../documents/flow-harness.ts';

type FirstPageReply = PoolReply<'portal.first-page'>;

const SIZE = { width: 595, height: 842 };
const DRAWN: FirstPageReply = { ok: true, ms: 1, result: { picture: new Uint8Array([1]) } };

function blobOf(name: string) {
  return { sha256: name.padEnd(64, '0'), length: 1_000 };
}

/** A pool whose answers to drawing are given, on a clock that is set. Sizes are known at once. @param isHere false: an object store alone has the files */
function startFirstPages(
  threads: number,
  reply: () => FirstPageReply | Promise<FirstPageReply>,
  isHere = true,
) {
  const tasks: PoolTask[] = [];
  const sizes: PoolTask[] = [];
  /** Files that were asked for wherever they are. */
  const brought: string[] = [];
  const time = { passed: 0 };
  const ends: (() => void)[] = [];
  const run = async (task: PoolTask) => {
    if (task.task === 'portal.first-page-size') {
      sizes.push(task);
      return { ok: true, ms: 1, result: SIZE };
    }
    tasks.push(task);
    return reply();
  };
  const after = (_: number, end: () => void) => {
    ends.push(end);
    return () => {};
  };
  const firstPages = new FirstPages({
    runtime: { clock: { ...systemClock, elapsed: () => time.passed, after } },
    pool: { run: run as SigningPool['run'], threads },
    blobs: {
      localPath: ({ sha256 }) => {
        brought.push(sha256);
        return Promise.resolve(`/files/${sha256}`);
      },
      pathHere: ({ sha256 }) => Promise.resolve(isHere ? `/files/${sha256}` : undefined),
    },
  });
  /** The picture as the next visit is told, after those of threads are there. */
  const settled = async (name: string) => {
    await firstPages.pictureOf(blobOf(name), OF_ACME);
    return (await firstPages.of(blobOf(name), OF_ACME))?.picture;
  };
  return { firstPages, tasks, sizes, brought, time, settled, ends };
}

const OF_ACME = { documentId: 'd1', organization: 'acme' };

for (const code of ['document.unreadable', 'pool.memory-exceeded'])
  test(`a file whose drawing ends with ${code} is not drawn again`, async (t) => {
    const { tasks, time, settled } = startFirstPages(8, () => ({ ok: false, ms: 1, code, message: '' }));
    t.is(await settled('a'), 'none');
    time.passed = 24 * 60 * 60_000;
    t.is(await settled('a'), 'none');
    t.is(tasks.length, 1);
    t.like(tasks[0], { task: 'portal.first-page', documentId: 'd1' });
  });

for (const code of ['pool.worker-lost', 'pool.deadline'])
  test(`a file whose drawing ends with ${code} is drawn again after five minutes`, async (t) => {
    const replies: FirstPageReply[] = [{ ok: false, ms: 1, code, message: '' }];
    const { tasks, time, settled } = startFirstPages(8, () => replies.pop() ?? DRAWN);
    t.is(await settled('a'), 'none');
    time.passed = 5 * 60_000 - 1;
    t.is(await settled('a'), 'none');
    t.is(tasks.length, 1);
    time.passed = 5 * 60_000;
    t.is(await settled('a'), 'ready');
  });

test('a file that a full pool did not take is drawn at the next visit', async (t) => {
  const replies: FirstPageReply[] = [{ ok: false, ms: 1, code: 'pool.full', message: '' }];
  const { firstPages, settled } = startFirstPages(8, () => replies.pop() ?? DRAWN);
  t.is(await firstPages.pictureOf(blobOf('a'), OF_ACME), undefined);
  t.is(await settled('a'), 'ready');
});

test('half of the threads draw at once, and two pages of one organization; the size of each page is known', async (t) => {
  const cases = [
    { threads: 1, organizations: ['a', 'b', 'c'], drawn: 1 },
    { threads: 4, organizations: ['a', 'b', 'c'], drawn: 2 },
    { threads: 8, organizations: ['a', 'a', 'a'], drawn: 2 },
    { threads: 8, organizations: ['a', 'a', 'a', 'b'], drawn: 3 },
    { threads: 64, organizations: ['a', 'b', 'c', 'd', 'e'], drawn: 4 },
  ];
  for (const { threads, organizations, drawn } of cases) {
    const { firstPages, tasks } = startFirstPages(threads, () => new Promise(() => {}));
    const pages = await Promise.all(
      organizations.map((organization, index) =>
        firstPages.of(blobOf(`f${index}`), { documentId: `d${index}`, organization }),
      ),
    );
    t.is(tasks.length, drawn, `${threads} threads, ${organizations}`);
    for (const page of pages) t.like(page, SIZE);
    t.is(pages.filter((page) => page?.picture === 'coming').length, drawn);
  }
});

test('a page waits for no drawing, and a picture only for a time', async (t) => {
  let finish = (_: FirstPageReply) => {};
  const answer = new Promise<FirstPageReply>((resolve) => {
    finish = resolve;
  });
  const { firstPages, ends } = startFirstPages(8, () => answer);
  t.deepEqual(await firstPages.of(blobOf('a'), OF_ACME), { ...SIZE, picture: 'coming' });
  const late = firstPages.pictureOf(blobOf('a'), OF_ACME);
  ends.at(-1)?.();
  t.is(await late, undefined);
  const inTime = firstPages.pictureOf(blobOf('a'), OF_ACME);
  finish(DRAWN);
  t.deepEqual(await inTime, new Uint8Array([1]));
  t.deepEqual(await firstPages.of(blobOf('a'), OF_ACME), { ...SIZE, picture: 'ready' });
});

test('a file above 4 MiB has its size where it is here and intact, and nobody draws it', async (t) => {
  const long = { ...blobOf('a'), length: 4 * 1024 * 1024 + 1 };
  const here = startFirstPages(8, () => DRAWN);
  t.deepEqual(await here.firstPages.of(long, OF_ACME), { ...SIZE, picture: 'none' });
  t.is(here.tasks.length, 0);
  t.like(here.sizes, [{ isRepaired: false }]);
  const elsewhere = startFirstPages(8, () => DRAWN, false);
  t.is(await elsewhere.firstPages.of(long, OF_ACME), undefined);
  t.deepEqual([elsewhere.brought, elsewhere.sizes], [[], []], 'nobody fetches it for its size');
  t.like(await elsewhere.firstPages.of(blobOf('b'), OF_ACME), SIZE);
  t.like(elsewhere.sizes, [{ isRepaired: true }]);
});

test.serial('the first page is drawn only for a visit that shows it first', async (t) => {
  const fixture = await portalFixture(t);
  const id = await fixture.create([signer('Ana')]);
  const access = await fixture.ticket(id, 'ana@example.org');
  const { key, ticket } = access.by === 'ticket' ? access : { key: '', ticket: '' };
  const { signingPages } = fixture.portal;
  const firstPage = async (isShown: boolean) =>
    (await signingPages.page(key, ticket, ORIGIN, { firstPage: isShown })).document?.firstPage;
  await reached(async () => (await firstPage(true)) !== undefined);
  t.is(await firstPage(false), undefined);
  const visits = [{}, { page: 1 }, { page: 2 }, { page: -1 }, { scale: '150' }, { hideDocument: true }];
  const shown = visits.map((visit) =>
    beginsWithFirstSheet({ page: undefined, scale: undefined, hideDocument: false, ...visit }),
  );
  t.deepEqual(shown, [true, true, false, false, false, false]);
});
