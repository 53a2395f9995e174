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

/** To be made before the route handler returns. Read it once, with `for await`; rejects with `ClientGone`. */
export class BodyReader implements AsyncIterable<Buffer> {
  readonly #exchange: Exchange;
  readonly #response: UwsResponse;
  readonly #clock: Pick<Clock, 'elapsed'>;
  #chunks: Buffer[] = [];
  #held = 0;
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
        this.#held -= chunk.length;
        if (this.#paused && this.#held === 0) this.#resume();
        yield chunk;
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
      // The library takes its memory back when this returns.
      this.#chunks.push(Buffer.from(new Uint8Array(chunk)));
      this.#held += chunk.byteLength;
      this.#sinceJudged += chunk.byteLength;
    }
    if (isLast) this.#complete = true;
    else if (this.#held >= HELD_BYTES) this.#pause();
    else this.#judgePace();
    this.#wake?.();
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
