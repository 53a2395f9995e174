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

const DRAWN: FirstPageReply = { ok: true, ms: 1, result: { width: 595, height: 842 } };

function blobOf(name: string) {
  return { sha256: name.padEnd(64, '0'), length: 1_000 };
}

/** A pool whose answers are given, on a clock that is set. */
function startFirstPages(threads: number, reply: () => FirstPageReply | Promise<FirstPageReply>) {
  const tasks: PoolTask[] = [];
  const time = { passed: 0 };
  const run = (task: PoolTask) => {
    tasks.push(task);
    return Promise.resolve(reply());
  };
  const firstPages = new FirstPages({
    runtime: { clock: { ...systemClock, elapsed: () => time.passed } },
    pool: { run: run as SigningPool['run'], threads },
    blobs: { localPath: ({ sha256 }) => Promise.resolve(`/files/${sha256}`) },
  });
  return { firstPages, tasks, time };
}

const OF_ACME = { documentId: 'd1', organization: 'acme' };

for (const code of ['document.unreadable', 'pool.memory-exceeded'])
  test(`a file whose drawing ends with ${code} is not drawn again`, async (t) => {
    const { firstPages, tasks, time } = startFirstPages(8, () => ({ ok: false, ms: 1, code, message: '' }));
    t.is(await firstPages.of(blobOf('a'), OF_ACME), undefined);
    time.passed = 24 * 60 * 60_000;
    t.is(await firstPages.of(blobOf('a'), OF_ACME), undefined);
    t.is(tasks.length, 1);
    t.like(tasks[0], { task: 'portal.first-page', documentId: 'd1' });
  });

for (const code of ['pool.worker-lost', 'pool.deadline'])
  test(`a file whose drawing ends with ${code} is drawn again after five minutes`, async (t) => {
    const replies: FirstPageReply[] = [{ ok: false, ms: 1, code, message: '' }];
    const { firstPages, tasks, time } = startFirstPages(8, () => replies.pop() ?? DRAWN);
    await firstPages.of(blobOf('a'), OF_ACME);
    time.passed = 5 * 60_000 - 1;
    t.is(await firstPages.of(blobOf('a'), OF_ACME), undefined);
    t.is(tasks.length, 1);
    time.passed = 5 * 60_000;
    t.like(await firstPages.of(blobOf('a'), OF_ACME), { width: 595 });
  });

test('a file that a full pool did not take is drawn at the next visit', async (t) => {
  const replies: FirstPageReply[] = [{ ok: false, ms: 1, code: 'pool.full', message: '' }];
  const { firstPages } = startFirstPages(8, () => replies.pop() ?? DRAWN);
  t.is(await firstPages.of(blobOf('a'), OF_ACME), undefined);
  t.like(await firstPages.of(blobOf('a'), OF_ACME), { width: 595 });
});

test('half of the threads draw at once, and two pages of one organization', async (t) => {
  const cases = [
    { threads: 1, organizations: ['a', 'b', 'c'], drawn: 1 },
    { threads: 4, organizations: ['a', 'b', 'c'], drawn: 2 },
    { threads: 8, organizations: ['a', 'a', 'a'], drawn: 2 },
    { threads: 8, organizations: ['a', 'a', 'a', 'b'], drawn: 3 },
    { threads: 64, organizations: ['a', 'b', 'c', 'd', 'e'], drawn: 4 },
  ];
  for (const { threads, organizations, drawn } of cases) {
    let finish = (_: FirstPageReply) => {};
    const answer = new Promise<FirstPageReply>((resolve) => {
      finish = resolve;
    });
    const { firstPages, tasks } = startFirstPages(threads, () => answer);
    const pages = organizations.map((organization, index) =>
      firstPages.of(blobOf(`f${index}`), { documentId: `d${index}`, organization }),
    );
    finish(DRAWN);
    await Promise.all(pages);
    t.is(tasks.length, drawn, `${threads} threads, ${organizations}`);
  }
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
