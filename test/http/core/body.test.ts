import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { BlockPool } from '../../../http/core/body/block-pool.ts';
import { BodyReader, Spool } from '../../../http/core/body/body.ts';
import { Exchange } from '../../../http/core/transport/exchange.ts';
import type { ResponseWriter } from '../../../http/core/transport/port.ts';

async function temporaryFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-spool-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * A simulated native request: a real socket cannot be made to read on after `pause()` on demand, which these tests
 * require.
 */
class DrivenResponse {
  paused = 0;
  resumed = 0;
  /** The connection ends ten seconds later: each read and `resume` start this timer, `pause` stops it. */
  isTimed = false;
  #data: ((chunk: ArrayBuffer, isLast: boolean) => void) | undefined;
  #aborted: (() => void) | undefined;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.#data = handler;
  }
  onAborted(handler: () => void): void {
    this.#aborted = handler;
  }
  pause(): void {
    this.paused += 1;
    this.isTimed = false;
  }
  resume(): void {
    this.resumed += 1;
    this.isTimed = true;
  }
  /** As the library does: detaches the memory when the handler returns. */
  bring(bytes: Buffer, isLast = false): void {
    const chunk = new Uint8Array(bytes).buffer;
    this.isTimed = !isLast;
    this.#data?.(chunk, isLast);
    structuredClone(chunk, { transfer: [chunk] });
  }
  leave(): void {
    this.#aborted?.();
  }
}

class CountedPool extends BlockPool {
  out = 0;
  override acquire(): Buffer {
    this.out += 1;
    return super.acquire();
  }
  override release(block: Buffer): void {
    this.out -= 1;
    super.release(block);
  }
}

function reading(spoolFolder: string, pool = new CountedPool()) {
  const driven = new DrivenResponse();
  const response = driven as unknown as ResponseWriter;
  const clock = new SimulatedClock();
  const body = new BodyReader(new Exchange(response), response, {
    clock,
    pool,
    spoolPath: () => join(spoolFolder, 'body.spool'),
  });
  const pass = (milliseconds: number) => clock.advance(milliseconds);
  return { driven, body, pass, pool };
}

test('a body that arrives faster than it is read stays complete, in order, and within bounded memory', async (t) => {
  const folder = await temporaryFolder(t);
  const { driven, body, pool } = reading(folder);
  const sent = createHash('sha256');
  const bring = (length: number, isLast = false) => {
    const bytes = randomBytes(length);
    sent.update(bytes);
    driven.bring(bytes, isLast);
  };
  for (let chunk = 0; chunk < 60; chunk += 1) bring(512 * 1024);
  t.false(driven.isTimed, 'the timer would end the connection before the reader goes on');
  // 8 MiB; the other 22 are in the file.
  t.is(pool.out, 16);
  t.deepEqual(await readdir(folder), []);
  const received = createHash('sha256');
  let chunks = 0;
  for await (const bytes of body) {
    received.update(bytes);
    chunks += 1;
    // More data arrives while the file is read back, and small chunks keep their order.
    if (chunks === 20) for (let more = 0; more < 40; more += 1) bring(more % 2 === 0 ? 1000 : 300_000);
    if (chunks === 60) bring(70_000, true);
  }
  t.is(received.digest('hex'), sent.digest('hex'));
  body.discard();
  t.is(driven.resumed, 1);
  t.is(pool.out, 0);
});

test('a body is paused while it is not read and resumed later', async (t) => {
  const { driven, body } = reading(await temporaryFolder(t));
  const chunks = body[Symbol.asyncIterator]();
  driven.bring(Buffer.alloc(50_000));
  t.is(driven.paused, 0);
  driven.bring(Buffer.alloc(200_000));
  t.is(driven.paused, 1);
  await chunks.next();
  await nextTurn();
  t.is(driven.resumed, 0);
  await chunks.next();
  t.is(driven.resumed, 0);
  await nextTurn();
  t.is(driven.resumed, 1);
  driven.bring(Buffer.alloc(10), true);
  await chunks.next();
  t.true((await chunks.next()).done);
});

test('a body that ends while it is paused is resumed only for the reply, so that its timer does not end the request', async (t) => {
  const { driven, body } = reading(await temporaryFolder(t));
  driven.bring(Buffer.alloc(300_000));
  t.is(driven.paused, 1);
  driven.bring(Buffer.alloc(10), true);
  let received = 0;
  for await (const { length } of body) received += length;
  t.is(received, 300_010);
  t.is(driven.resumed, 0);
  body.discard();
  t.is(driven.resumed, 1, 'the connection goes on with its next request');
});

test('paused bodies are resumed one in a turn, and none while many bytes wait for their readers', async (t) => {
  const folder = await temporaryFolder(t);
  const pool = new CountedPool();
  const bodies = (count: number) => Array.from({ length: count }, () => reading(folder, pool));
  const fast = bodies(3);
  const expectResumed = async (counts: string, turns = 1) => {
    for (let turn = 0; turn < turns; turn += 1) await nextTurn();
    t.is(fast.map(({ driven }) => driven.resumed).join(), counts);
  };
  const bringAndRead = async () => {
    for (const { driven, body } of fast) {
      driven.bring(Buffer.alloc(100_000));
      await body[Symbol.asyncIterator]().next();
    }
  };
  await bringAndRead();
  await expectResumed('1,0,0');
  await expectResumed('1,1,0');
  await expectResumed('1,1,1');

  const slow = bodies(2);
  for (const { driven } of slow)
    for (let chunk = 0; chunk < 10; chunk += 1) driven.bring(Buffer.alloc(512 * 1024));
  await bringAndRead();
  await expectResumed('2,2,2', 3);

  // Now ten megabytes have readers, which take them slowly.
  const readers = slow.map(({ body }) => body[Symbol.asyncIterator]());
  for (const reader of readers) await reader.next();
  await bringAndRead();
  await expectResumed('2,2,2', 5);
  for (let chunk = 0; chunk < 3; chunk += 1) await readers[0]?.next();
  await expectResumed('3,3,3', 3);
});

test('a disconnected client ends the reading with a code', async (t) => {
  const { driven, body } = reading(await temporaryFolder(t));
  const chunks = body[Symbol.asyncIterator]();
  driven.bring(Buffer.alloc(10));
  await chunks.next();
  const next = t.throwsAsync(chunks.next(), { code: 'client.gone' });
  driven.leave();
  await next;
});

test('a slow client extends its deadline by sending, and one below the minimum rate does not', async (t) => {
  const { driven, pass } = reading(await temporaryFolder(t));
  pass(1000);
  driven.bring(Buffer.alloc(5000));
  t.is(driven.resumed, 0);
  pass(2000);
  t.is(driven.resumed, 1);
  for (let second = 0; second < 20; second += 1) {
    pass(1000);
    driven.bring(Buffer.alloc(100));
  }
  const won = driven.resumed;
  t.true(won <= 6, 'its 5,000 bytes are used up after ten seconds');
  for (let second = 0; second < 20; second += 1) {
    pass(1000);
    driven.bring(Buffer.alloc(100));
  }
  t.is(driven.resumed, won);
});

test('a client that sends much and then pauses for nine seconds keeps its connection', async (t) => {
  const { driven, body, pass } = reading(await temporaryFolder(t));
  const chunks = body[Symbol.asyncIterator]();
  let wonBefore = 0;
  for (let round = 0; round < 10; round += 1) {
    driven.bring(Buffer.alloc(9 * 1024));
    await chunks.next();
    for (let second = 0; second < 9; second += 1) pass(1000);
    t.true(driven.resumed >= wonBefore + 4, `round ${round}`);
    wonBefore = driven.resumed;
  }
  // Thirty seconds after its last byte it gets no extension, however much it sent.
  for (let second = 0; second < 30; second += 1) pass(1000);
  const last = driven.resumed;
  for (let second = 0; second < 30; second += 1) pass(1000);
  t.is(driven.resumed, last);
  body.discard();
});

test('a body that fits neither memory nor spool fails as retryable', async (t) => {
  const folder = await temporaryFolder(t);
  const { driven, body } = reading(join(folder, 'missing'));
  for (let chunk = 0; chunk < 30; chunk += 1) driven.bring(Buffer.alloc(512 * 1024));
  const error = await t.throwsAsync(body[Symbol.asyncIterator]().next(), { code: 'spool.unavailable' });
  t.is((error as { retryable?: unknown }).retryable, true);
});

test('a spool returns its bytes in order, and its file has no name', async (t) => {
  const folder = await temporaryFolder(t);
  const spool = new Spool(join(folder, 'x'));
  t.deepEqual(await readdir(folder), []);
  const into = Buffer.alloc(4);
  for (let round = 0; round < 3; round += 1) {
    spool.append(Buffer.from('abcdef'));
    t.is((await spool.read(into)).toString(), 'abcd');
    spool.append(Buffer.from('gh'));
    t.is((await spool.read(into)).toString(), 'efgh');
    t.is(spool.length, 0);
  }
  spool.append(Buffer.from('late'));
  const underWay = spool.read(into);
  spool.close();
  spool.close();
  t.is((await underWay).toString(), 'late');
});
