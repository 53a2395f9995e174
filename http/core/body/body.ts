/** Request bodies as chunks, read at the reader's pace with bounded memory. */

import { close, openSync, read, unlinkSync, writeSync } from 'node:fs';
import type { Clock } from '@sealwright/runtime';
import type { Exchange } from '../transport/exchange.ts';
import type { ResponseWriter } from '../transport/port.ts';
import { BLOCK_BYTES, type BlockPool } from './block-pool.ts';

/** FIFO file for a body that arrives faster than it is read; the file is unlinked while open. */
export class Spool {
  readonly #file: number;
  #written = 0;
  #readUpTo = 0;
  #reading = false;
  #closed = false;

  /** Creates the file and unlinks it, so that nothing remains however the process ends. */
  constructor(path: string) {
    this.#file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
  }

  /** Bytes in the queue. */
  get length(): number {
    return this.#written - this.#readUpTo;
  }

  /** Blocks until the system has the bytes: the caller runs in a synchronous callback. */
  append(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      at += writeSync(this.#file, bytes, at, bytes.length - at, this.#written + at);
    }
    this.#written += bytes.length;
  }

  /** Reads the oldest bytes, at most the length of `into`; one call at a time. */
  async read(into: Buffer): Promise<Buffer> {
    this.#reading = true;
    try {
      const byteCount = Math.min(into.length, this.length);
      const got = await new Promise<number>((resolve, reject) => {
        read(this.#file, into, 0, byteCount, this.#readUpTo, (error, bytesRead) =>
          error === null ? resolve(bytesRead) : reject(error),
        );
      });
      this.#readUpTo += got;
      if (this.length === 0) {
        // Written over: to cut the file waits for what the disk still writes of it.
        this.#written = 0;
        this.#readUpTo = 0;
      }
      return into.subarray(0, got);
    } finally {
      this.#reading = false;
      if (this.#closed) this.#free();
    }
  }

  /** May be called at any time and more than once. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // The descriptor of a closed file may be reused before a pending read runs.
    if (!this.#reading) this.#free();
  }

  /** On another thread: with its descriptor the file ends, which waits for the disk. */
  #free(): void {
    close(this.#file, () => undefined);
  }
}

/** Smaller chunks get memory of their own, larger ones a block of the pool. */
const SMALL_BYTES = 64 * 1024;

/** Bytes buffered for the reader before the socket is paused: less than a read of the library can be before it reads on. */
const PAUSE_AT_BYTES = SMALL_BYTES;

/**
 * Bytes held in memory before the rest goes to a file. The library keeps reading after `pause()` for as long as every
 * read fills its whole buffer; a fast client on the same machine can sustain that for a whole upload.
 */
const MEMORY_BYTES = 8 * 1024 * 1024;

/**
 * The library drops a connection that sends fewer than 160 KiB in ten seconds, which is more than a phone on a poor
 * line sends. A slower client that sends at least this rate (bytes per second) gets another ten seconds, checked
 * every `PACE_CHECK_MS` milliseconds; a client that stops or drips does not. A burst counts for at most `MAX_GAP_MS`
 * milliseconds: poor lines send much, then nothing for a while.
 */
const MIN_BYTES_PER_SECOND = 512;
const PACE_CHECK_MS = 2000;
const MAX_GAP_MS = 30_000;
const MAX_CREDIT = (MIN_BYTES_PER_SECOND * MAX_GAP_MS) / 1000;

/** Thrown when the client disconnects during its request; no reply is possible. */
export class ClientDisconnected extends Error {
  readonly code = 'client.gone';
  constructor() {
    super('The client closed the connection before its request was complete.');
    this.name = 'ClientGone';
  }
}

/** Dependencies of body readers. */
export interface BodyReaderOptions {
  readonly clock: Pick<Clock, 'elapsed' | 'after'>;
  readonly pool: BlockPool;
  /** An unused path, for a file with the bytes that exceed the memory limit. */
  readonly spoolPath: () => string;
}

const END = { done: true, value: undefined } as const;

interface Chunk {
  readonly bytes: Buffer;
  /** The pool block that contains `bytes`, if any. */
  readonly block: Buffer | undefined;
}

/**
 * Create before the route handler returns. Read it once, with `for await`; rejects with `ClientDisconnected`. A chunk
 * is valid until the next one is requested; its memory is then reused.
 */
export class BodyReader implements AsyncIterable<Buffer> {
  readonly #exchange: Exchange;
  readonly #response: ResponseWriter;
  readonly #options: BodyReaderOptions;
  #chunks: Chunk[] = [];
  #held = 0;
  #spool: Spool | undefined;
  #failure: unknown;
  #complete = false;
  #isRead = false;
  #paused = false;
  /** Paused, and in line for its turn. */
  #isWaiting = false;
  #dropping = false;
  /** Block of the chunk that the reader has. */
  #lent: Buffer | undefined;
  #wake: (() => void) | undefined;
  #whenComplete: (() => void) | undefined;
  /** Received bytes minus those that the elapsed time has consumed. */
  #credit = 0;
  #creditAt: number;
  /** Cancels the next rate check; one is armed while the body arrives in several chunks. */
  #stopJudging: (() => void) | undefined;

  constructor(exchange: Exchange, response: ResponseWriter, options: BodyReaderOptions) {
    this.#exchange = exchange;
    this.#response = response;
    this.#options = options;
    this.#creditAt = options.clock.elapsed();
    exchange.watch();
    exchange.whenClosed(() => {
      this.#dropChunks();
      this.#wake?.();
    });
    response.onData((chunk, isLast) => this.#receive(new Uint8Array(chunk), isLast));
  }

  /** No generator: its promises cost more than a small body. */
  [Symbol.asyncIterator](): AsyncIterator<Buffer, undefined> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.#takeBack();
        return END;
      },
    };
  }

  /** The reader is done with the last chunk. */
  #takeBack(): void {
    if (this.#lent !== undefined) this.#options.pool.release(this.#lent);
    this.#lent = undefined;
  }

  async #next(): Promise<IteratorResult<Buffer, undefined>> {
    this.#takeBack();
    if (!this.#isRead) {
      this.#isRead = true;
      this.#options.pool.count(this.#held);
    }
    for (;;) {
      if (this.#exchange.isClosed) throw new ClientDisconnected();
      if (this.#failure !== undefined) throw this.#failure;
      // No await between the empty check and the wait, or a wake-up could be missed.
      const chunk = this.#shift() ?? (this.#spooled > 0 ? await this.#unspool() : undefined);
      if (chunk !== undefined) {
        this.#lent = chunk.block;
        return { done: false, value: chunk.bytes };
      } else if (this.#complete) {
        return END;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    }
  }

  /** Calls back once the whole body has arrived, unless it is dropped before. */
  whenComplete(tell: () => void): void {
    if (this.#complete) tell();
    else this.#whenComplete = tell;
  }

  /**
   * Discards the rest of the body. Call before the reply is written: the library then reads and drops further bytes,
   * so the reply also reaches clients that read only after sending everything.
   */
  discard(): void {
    this.#dropping = true;
    this.#dropChunks();
    if (this.#paused && this.#exchange.open) this.#resume();
  }

  get #spooled(): number {
    return this.#spool?.length ?? 0;
  }

  /** The oldest chunk in memory. */
  #shift(): Chunk | undefined {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) this.#count(-chunk.bytes.length);
    this.#resumeWhenEmpty();
    return chunk;
  }

  /** The oldest bytes in the file. */
  async #unspool(): Promise<Chunk | undefined> {
    const block = this.#options.pool.acquire();
    const bytes = await this.#spool?.read(block);
    this.#resumeWhenEmpty();
    return bytes === undefined ? undefined : { bytes, block };
  }

  /**
   * After the whole body, `resume` would only restart the timer, which ends the connection before a late reply.
   * Source: docs/decisions/0066-replies-nobody-reads.md.
   */
  #resumeWhenEmpty(): void {
    if (!this.#isDrained || this.#isWaiting) return;
    this.#isWaiting = true;
    this.#options.pool.whenTurn(() => {
      this.#isWaiting = false;
      if (this.#isDrained) this.#resume();
    });
  }

  /** Paused, and its reader has all that came. */
  get #isDrained(): boolean {
    return this.#paused && !this.#complete && this.#held === 0 && this.#spooled === 0 && this.#exchange.open;
  }

  #count(bytes: number): void {
    this.#held += bytes;
    // What nobody reads yet keeps no other body waiting.
    if (this.#isRead) this.#options.pool.count(bytes);
  }

  #receive(bytes: Uint8Array, isLast: boolean): void {
    if (this.#dropping || !this.#exchange.open) return;
    if (bytes.length > 0) this.#buffer(bytes);
    if (isLast) {
      this.#complete = true;
      this.#stopJudging?.();
      this.#stopJudging = undefined;
      this.#whenComplete?.();
    } else {
      this.#credit = Math.min(MAX_CREDIT, this.#credit + bytes.length);
      if (this.#paused || this.#held >= PAUSE_AT_BYTES) this.#pause();
      else if (this.#stopJudging === undefined) this.#judgeLater();
    }
    this.#wake?.();
  }

  /** Copies the bytes: the library takes its memory back when its handler returns. */
  #buffer(bytes: Uint8Array): void {
    if (this.#spooled > 0 || this.#held + bytes.length > MEMORY_BYTES) {
      try {
        this.#spool ??= new Spool(this.#options.spoolPath());
        this.#spool.append(bytes);
      } catch (error) {
        this.#failure = Object.assign(new Error('A body could not be spooled.', { cause: error }), {
          code: isDiskFull(error) ? 'storage.full' : 'spool.unavailable',
          retryable: true,
        });
        this.#dropping = true;
      }
      return;
    }
    this.#count(bytes.length);
    if (bytes.length < SMALL_BYTES || bytes.length > BLOCK_BYTES) {
      this.#chunks.push({ bytes: Buffer.from(bytes), block: undefined });
      return;
    }
    const block = this.#options.pool.acquire();
    block.set(bytes);
    this.#chunks.push({ bytes: block.subarray(0, bytes.length), block });
  }

  #dropChunks(): void {
    this.#stopJudging?.();
    this.#stopJudging = undefined;
    for (const { block } of this.#chunks) if (block !== undefined) this.#options.pool.release(block);
    this.#chunks = [];
    this.#count(-this.#held);
    this.#spool?.close();
    this.#spool = undefined;
  }

  #judgeLater(): void {
    this.#stopJudging = this.#options.clock.after(PACE_CHECK_MS, () => {
      this.#checkPace();
      if (this.#exchange.open && !this.#complete) this.#judgeLater();
    });
  }

  /** Grants the client ten more seconds if it was fast enough. */
  #checkPace(): void {
    const now = this.#options.clock.elapsed();
    const used = (MIN_BYTES_PER_SECOND * (now - this.#creditAt)) / 1000;
    this.#creditAt = now;
    // A paused socket is slow because of this side.
    if (this.#paused) return;
    this.#credit = Math.max(0, this.#credit - used);
    if (this.#credit === 0) return;
    this.#response.pause();
    this.#response.resume();
  }

  /** Also of a paused one: what the library reads then starts its timer again, which would end the connection. */
  #pause(): void {
    this.#paused = true;
    this.#response.pause();
  }

  #resume(): void {
    this.#paused = false;
    this.#creditAt = this.#options.clock.elapsed();
    this.#response.resume();
  }
}

function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
