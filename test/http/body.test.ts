import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { BlockPool } from '../../http/block-pool.ts';
import { BodyReader } from '../../http/body.ts';
import { Exchange } from '../../http/exchange.ts';
import { Spool } from '../../http/spool.ts';
import type { UwsResponse } from '../../http/uws.ts';

async function temporaryFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-spool-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * The library's side of a request, driven by hand: over a real socket nobody can make it read on after `pause()`
 * on demand, and that is what these tests are about.
 */
class DrivenResponse {
  paused = 0;
  resumed = 0;
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
  }
  resume(): void {
    this.resumed += 1;
  }
  /** As the library does: the memory is taken back when the handler returns. */
  bring(bytes: Buffer, isLast = false): void {
    const chunk = new Uint8Array(bytes).buffer;
    this.#data?.(chunk, isLast);
    structuredClone(chunk, { transfer: [chunk] });
  }
  leave(): void {
    this.#aborted?.();
  }
}

class CountedPool extends BlockPool {
  out = 0;
  override take(): Buffer {
    this.out += 1;
    return super.take();
  }
  override give(block: Buffer): void {
    this.out -= 1;
    super.give(block);
  }
}

function reading(spoolFolder: string) {
  const driven = new DrivenResponse();
  const response = driven as unknown as UwsResponse;
  const pool = new CountedPool();
  let now = 0;
  const clock = { elapsed: () => now };
  const body = new BodyReader(new Exchange(response), response, {
    clock,
    pool,
    spoolPath: () => join(spoolFolder, 'body.spool'),
  });
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  return { driven, body, pass, pool };
}

test('a body that comes far faster than it is read arrives whole, in order, and without filling memory', async (t) => {
  const folder = await temporaryFolder(t);
  const { driven, body, pool } = reading(folder);
  const sent = createHash('sha256');
  const bring = (length: number, isLast = false) => {
    const bytes = randomBytes(length);
    sent.update(bytes);
    driven.bring(bytes, isLast);
  };
  for (let chunk = 0; chunk < 60; chunk += 1) bring(512 * 1024);
  t.is(driven.paused, 1);
  // 8 MiB; the other 22 are in the file.
  t.is(pool.out, 16);
  t.deepEqual(await readdir(folder), []);
  const received = createHash('sha256');
  let chunks = 0;
  for await (const bytes of body) {
    received.update(bytes);
    chunks += 1;
    // More keeps coming while the file is read back, and small pieces stay in their place.
    if (chunks === 20) for (let more = 0; more < 40; more += 1) bring(more % 2 === 0 ? 1000 : 300_000);
    if (chunks === 60) bring(70_000, true);
  }
  t.is(received.digest('hex'), sent.digest('hex'));
  t.true(driven.resumed >= 1);
  t.is(pool.out, 0);
});

test('a body is paused when it is not read and resumed when it has been', async (t) => {
  const { driven, body } = reading(await temporaryFolder(t));
  const chunks = body[Symbol.asyncIterator]();
  driven.bring(Buffer.alloc(100_000));
  t.is(driven.paused, 0);
  driven.bring(Buffer.alloc(200_000));
  t.is(driven.paused, 1);
  await chunks.next();
  t.is(driven.resumed, 0);
  await chunks.next();
  t.is(driven.resumed, 1);
  driven.bring(Buffer.alloc(10), true);
  await chunks.next();
  t.true((await chunks.next()).done);
});

test('a client that leaves ends the reading with a code', async (t) => {
  const { driven, body } = reading(await temporaryFolder(t));
  const chunks = body[Symbol.asyncIterator]();
  driven.bring(Buffer.alloc(10));
  await chunks.next();
  const next = t.throwsAsync(chunks.next(), { code: 'client.gone' });
  driven.leave();
  await next;
});

test('a slow client wins time by sending, a dripping one does not', async (t) => {
  const { driven, pass } = reading(await temporaryFolder(t));
  pass(1000);
  driven.bring(Buffer.alloc(5000));
  t.is(driven.resumed, 0);
  pass(1000);
  driven.bring(Buffer.alloc(1));
  t.is(driven.resumed, 1);
  for (let second = 0; second < 20; second += 1) {
    pass(1000);
    driven.bring(Buffer.alloc(100));
  }
  t.is(driven.resumed, 1);
});

test('a body that can be neither held nor spooled fails as something to try again', async (t) => {
  const folder = await temporaryFolder(t);
  const { driven, body } = reading(join(folder, 'missing'));
  for (let chunk = 0; chunk < 30; chunk += 1) driven.bring(Buffer.alloc(512 * 1024));
  const error = await t.throwsAsync(body[Symbol.asyncIterator]().next(), { code: 'spool.unavailable' });
  t.is((error as { retryable?: unknown }).retryable, true);
});

test('a spool gives back what it took, in order, and its file has no name', async (t) => {
  const folder = await temporaryFolder(t);
  const spool = new Spool(join(folder, 'x'));
  t.deepEqual(await readdir(folder), []);
  const into = Buffer.alloc(4);
  for (let round = 0; round < 3; round += 1) {
    spool.append(Buffer.from('abcdef'));
    t.is((await spool.take(into)).toString(), 'abcd');
    spool.append(Buffer.from('gh'));
    t.is((await spool.take(into)).toString(), 'efgh');
    t.is(spool.length, 0);
  }
  spool.append(Buffer.from('late'));
  const underWay = spool.take(into);
  spool.close();
  spool.close();
  t.is((await underWay).toString(), 'late');
});
