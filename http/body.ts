/**
 * The body of a request as chunks to be read at the reader's pace: what is not read yet stays in the client.
 */
import type { Clock } from '../runtime/ports.ts';
import type { Exchange } from './exchange.ts';
import type { UwsResponse } from './uws.ts';

/** Bytes held for the reader before the socket is told to wait. One chunk of the library is up to 512 KiB. */
const HELD_BYTES = 256 * 1024;

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

/** The library's largest chunk. Memory for large chunks is got in blocks of this size and used again. */
const BLOCK_BYTES = 512 * 1024;
/** Smaller chunks are copied into memory of their own. */
const SMALL_BYTES = 64 * 1024;

/**
 * To be made before the route handler returns. Read it once, with `for await`; rejects with `ClientGone`.
 * A chunk is good until the next one is asked for: its memory is then used again, so that a large body leaves no
 * trail of garbage half a megabyte a piece.
 */
export class BodyReader implements AsyncIterable<Buffer> {
  readonly #exchange: Exchange;
  readonly #response: UwsResponse;
  readonly #clock: Pick<Clock, 'elapsed'>;
  #chunks: { readonly bytes: Buffer; readonly block: Buffer | undefined }[] = [];
  #held = 0;
  /** Blocks in use by nobody; two are enough for one being read and one being filled. */
  readonly #spare: Buffer[] = [];
  #complete = false;
  #paused = false;
  #dropping = false;
  #wake: (() => void) | undefined;
  #judgedAt: number;
  #sinceJudged = 0;

  constructor(exchange: Exchange, response: UwsResponse, clock: Pick<Clock, 'elapsed'>) {
    this.#exchange = exchange;
    this.#response = response;
    this.#clock = clock;
    this.#judgedAt = clock.elapsed();
    exchange.watch();
    exchange.whenGone(() => {
      this.#chunks = [];
      this.#wake?.();
    });
    response.onData((chunk, isLast) => this.#take(chunk, isLast));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      if (this.#exchange.gone) throw new ClientGone();
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#held -= chunk.bytes.length;
        if (this.#paused && this.#held === 0) this.#resume();
        yield chunk.bytes;
        if (chunk.block !== undefined && this.#spare.length < 2) this.#spare.push(chunk.block);
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

  /**
   * Forgets what is left of the body. To be called before the answer is written: the library then reads and
   * drops what the client still sends, so the answer reaches clients that only listen after they have sent.
   */
  discard(): void {
    this.#dropping = true;
    this.#chunks = [];
    this.#held = 0;
    if (this.#paused && this.#exchange.open) this.#resume();
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#dropping || !this.#exchange.open) return;
    if (chunk.byteLength > 0) {
      this.#chunks.push(this.#copy(new Uint8Array(chunk)));
      this.#held += chunk.byteLength;
      this.#sinceJudged += chunk.byteLength;
    }
    if (isLast) this.#complete = true;
    else if (this.#held >= HELD_BYTES) this.#pause();
    else this.#judgePace();
    this.#wake?.();
  }

  /** The library takes its memory back when its handler returns. */
  #copy(bytes: Uint8Array): { readonly bytes: Buffer; readonly block: Buffer | undefined } {
    if (bytes.length < SMALL_BYTES || bytes.length > BLOCK_BYTES) {
      return { bytes: Buffer.from(bytes), block: undefined };
    }
    const block = this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    block.set(bytes);
    return { bytes: block.subarray(0, bytes.length), block };
  }

  #judgePace(): void {
    const now = this.#clock.elapsed();
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
    this.#judgedAt = this.#clock.elapsed();
    this.#sinceJudged = 0;
    this.#response.resume();
  }
}
