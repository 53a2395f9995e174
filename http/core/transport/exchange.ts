/**
 * One request and its response, safe to use at any time.
 *
 * The native response must not be touched once it has ended or the client has disconnected. All writes go through
 * this class, so late replies are dropped.
 */
import type { ResponseWriter } from './port.ts';

export class Exchange {
  readonly #response: ResponseWriter;
  #watched = false;
  #gone = false;
  #ended = false;
  #begun = false;
  #whenGone: (() => void)[] | undefined;
  #pushed: (() => void) | undefined;

  constructor(response: ResponseWriter) {
    this.#response = response;
  }

  /** True while the response can be written. */
  get open(): boolean {
    return !this.#gone && !this.#ended;
  }

  /** True when the client disconnected before its reply was complete. */
  get isClosed(): boolean {
    return this.#gone;
  }

  /** True once a part of the reply may have been sent. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Call before the route handler returns without a reply; the library requires an abort handler. */
  watch(): void {
    if (this.#watched) return;
    this.#watched = true;
    this.#response.onAborted(() => {
      this.#gone = true;
      const waiting = this.#whenGone ?? [];
      this.#whenGone = undefined;
      for (const tell of waiting) tell();
      this.#pushed?.();
    });
  }

  /** Calls back once when the client disconnects; at once if it has. */
  whenClosed(tell: () => void): void {
    if (this.#gone) tell();
    else if (this.#whenGone === undefined) this.#whenGone = [tell];
    else this.#whenGone.push(tell);
  }

  /** Runs `use` on the response in one corked write; does nothing once it is closed. */
  use(use: (response: ResponseWriter) => void): void {
    if (!this.open) return;
    this.#begun = true;
    if (this.#watched) this.#response.cork(() => use(this.#response));
    else use(this.#response);
  }

  /** As `use`, for the write that completes the response. */
  finish(use: (response: ResponseWriter) => void): void {
    this.use((response) => {
      use(response);
      this.#ended = true;
    });
  }

  /**
   * Completes the response with a whole body. Where the socket does not accept all of it, the rest waits for the client to
   * read, and the connection is closed if it sends another request before: unread replies do not fill the memory.
   * @param head writes status and headers
   */
  finishWith(body: string | Uint8Array, head: (response: ResponseWriter) => void): void {
    this.use((response) => {
      head(response);
      const total = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
      const [, complete] = response.tryEnd(body, total);
      if (complete) this.#ended = true;
      else this.#finishLater(response, typeof body === 'string' ? Buffer.from(body) : body);
    });
  }

  #finishLater(response: ResponseWriter, bytes: Uint8Array): void {
    this.watch();
    response.onWritable((offset) => {
      if (!this.open) return true;
      const [taken, complete] = response.tryEnd(bytes.subarray(offset), bytes.byteLength);
      if (complete) this.#ended = true;
      return taken || complete;
    });
  }

  /** Drops the connection, when a started response cannot be completed. */
  drop(): void {
    if (this.open) this.#response.close();
  }

  /**
   * Sends one chunk of a body of unknown length; resolves when the socket has accepted it, or the client has
   * disconnected. `head` writes status and headers before the first chunk.
   */
  write(chunk: Buffer, head?: (response: ResponseWriter) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#pushed = resolve;
      if (!this.open) resolve();
      this.use((response) => {
        head?.(response);
        if (response.write(chunk)) {
          resolve();
          return;
        }
        response.onWritable(() => {
          resolve();
          return true;
        });
      });
    });
  }

  /**
   * Sends one chunk of a body of `total` bytes; resolves when the socket has accepted all of it (the buffer may be
   * reused), or the client has disconnected. `head` writes status and headers before the first chunk.
   */
  push(chunk: Buffer, total: number, head?: (response: ResponseWriter) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#pushed = resolve;
      if (!this.open) resolve();
      let rest = chunk;
      const attempt = (response: ResponseWriter): boolean => {
        const before = response.getWriteOffset();
        const [taken, complete] = response.tryEnd(rest, total);
        if (complete) this.#ended = true;
        if (!taken && !complete) {
          rest = rest.subarray(response.getWriteOffset() - before);
          return false;
        }
        resolve();
        return true;
      };
      this.use((response) => {
        head?.(response);
        // The handler of the next chunk replaces this one; each handles only its own bytes.
        if (!attempt(response)) response.onWritable(() => !this.open || attempt(response));
      });
    });
  }
}
