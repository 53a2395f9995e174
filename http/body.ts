/**
 * The body of a request as chunks to be read at the reader's pace, in bounded memory.
 */
import type { Clock } from '../runtime/index.ts';
import { BLOCK_BYTES, type BlockPool } from './block-pool.ts';
import type { Exchange } from './exchange.ts';
import { Spool } from './spool.ts';
import type { UwsResponse } from './uws.ts';

/** Bytes held for the reader before the socket is told to wait. */
const PAUSE_AT = 256 * 1024;

/**
 * Bytes held in memory before the rest goes to a file. The library reads on, whatever it was told, for as long as
 * every read fills its whole buffer; a fast client on the same machine can keep that up for a whole upload.
 */
const MEMORY_BYTES = 8 * 1024 * 1024;

/** Smaller chunks get memory of their own, larger ones a block of the pool. */
const SMALL_BYTES = 64 * 1024;

/**
 * The library drops a connection that brings fewer than 160 KiB in ten seconds, which is more than a phone on a
 * poor line sends. A client that is slower but at least this fast (bytes a second, judged every
 * `JUDGED_EVERY` milliseconds) gets its ten seconds anew; one that stops, or only drips, does not.
 */
const SLOWEST = 512;
const JUDGED_EVERY = 2000;

/** The client left in the middle of its request; there is nobody to answer. */
export class ClientGone extends Error {
  readonly code = 'client.gone';
  constructor() {
    super('The client closed the connection before its request was complete.');
    this.name = 'ClientGone';
  }
}

/** What bodies need of their surroundings. */
export interface BodyParts {
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly pool: BlockPool;
  /** A path nothing is at, for a file that holds what memory should not. */
  readonly spoolPath: () => string;
}

interface Chunk {
  readonly bytes: Buffer;
  /** The block `bytes` lies in, when it is one of the pool's. */
  readonly block: Buffer | undefined;
}

/**
 * To be made before the route handler returns. Read it once, with `for await`; rejects with `ClientGone`.
 * A chunk is good until the next one is asked for: its memory is then used again.
 */
export class BodyReader implements AsyncIterable<Buffer> {
  readonly #exchange: Exchange;
  readonly #response: UwsResponse;
  readonly #parts: BodyParts;
  #chunks: Chunk[] = [];
  #held = 0;
  #spool: Spool | undefined;
  #failure: unknown;
  #complete = false;
  #paused = false;
  #dropping = false;
  #wake: (() => void) | undefined;
  #whenComplete: (() => void) | undefined;
  #judgedAt: number;
  #sinceJudged = 0;

  constructor(exchange: Exchange, response: UwsResponse, parts: BodyParts) {
    this.#exchange = exchange;
    this.#response = response;
    this.#parts = parts;
    this.#judgedAt = parts.clock.elapsed();
    exchange.watch();
    exchange.whenGone(() => {
      this.#forget();
      this.#wake?.();
    });
    response.onData((chunk, isLast) => this.#receive(new Uint8Array(chunk), isLast));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      if (this.#exchange.gone) throw new ClientGone();
      if (this.#failure !== undefined) throw this.#failure;
      // Nothing may be awaited between finding nothing and going to sleep, or a wake-up would be missed.
      const chunk = this.#shift() ?? (this.#spooled > 0 ? await this.#unspool() : undefined);
      if (chunk !== undefined) {
        try {
          yield chunk.bytes;
        } finally {
          if (chunk.block !== undefined) this.#parts.pool.give(chunk.block);
        }
      } else if (this.#complete) {
        return;
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
   * Forgets what is left of the body. To be called before the answer is written: the library then reads and
   * drops what the client still sends, so the answer reaches clients that only listen after they have sent.
   */
  discard(): void {
    this.#dropping = true;
    this.#forget();
    if (this.#paused && this.#exchange.open) this.#resume();
  }

  get #spooled(): number {
    return this.#spool?.length ?? 0;
  }

  /** The oldest chunk in memory. */
  #shift(): Chunk | undefined {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) this.#held -= chunk.bytes.length;
    this.#resumeWhenEmpty();
    return chunk;
  }

  /** The oldest bytes in the file. */
  async #unspool(): Promise<Chunk | undefined> {
    const block = this.#parts.pool.take();
    const bytes = await this.#spool?.take(block);
    this.#resumeWhenEmpty();
    return bytes === undefined ? undefined : { bytes, block };
  }

  #resumeWhenEmpty(): void {
    if (this.#paused && this.#held === 0 && this.#spooled === 0 && this.#exchange.open) this.#resume();
  }

  #receive(bytes: Uint8Array, isLast: boolean): void {
    if (this.#dropping || !this.#exchange.open) return;
    if (bytes.length > 0) this.#hold(bytes);
    if (isLast) {
      this.#complete = true;
      this.#whenComplete?.();
    } else if (this.#held >= PAUSE_AT) this.#pause();
    else this.#judgePace(bytes.length);
    this.#wake?.();
  }

  /** Copies the bytes: the library takes its memory back when its handler returns. */
  #hold(bytes: Uint8Array): void {
    if (this.#spooled > 0 || this.#held + bytes.length > MEMORY_BYTES) {
      try {
        this.#spool ??= new Spool(this.#parts.spoolPath());
        this.#spool.append(bytes);
      } catch (error) {
        this.#failure = Object.assign(new Error('A body could not be spooled.', { cause: error }), {
          code: 'spool.unavailable',
          retryable: true,
        });
        this.#dropping = true;
      }
      return;
    }
    this.#held += bytes.length;
    if (bytes.length < SMALL_BYTES || bytes.length > BLOCK_BYTES) {
      this.#chunks.push({ bytes: Buffer.from(bytes), block: undefined });
      return;
    }
    const block = this.#parts.pool.take();
    block.set(bytes);
    this.#chunks.push({ bytes: block.subarray(0, bytes.length), block });
  }

  #forget(): void {
    for (const { block } of this.#chunks) if (block !== undefined) this.#parts.pool.give(block);
    this.#chunks = [];
    this.#held = 0;
    this.#spool?.close();
    this.#spool = undefined;
  }

  #judgePace(received: number): void {
    this.#sinceJudged += received;
    const now = this.#parts.clock.elapsed();
    const since = now - this.#judgedAt;
    if (since < JUDGED_EVERY) return;
    if (!this.#paused && this.#sinceJudged >= (SLOWEST * since) / 1000) {
      this.#response.pause();
      this.#response.resume();
    }
    this.#judgedAt = now;
    this.#sinceJudged = 0;
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#response.pause();
  }

  #resume(): void {
    this.#paused = false;
    this.#judgedAt = this.#parts.clock.elapsed();
    this.#sinceJudged = 0;
    this.#response.resume();
  }
}
