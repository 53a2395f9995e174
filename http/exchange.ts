/**
 * One request and its response, safe to use at any time.
 *
 * The native response must not be touched once it has ended or the client has gone; everything that writes goes
 * through here, so that late answers (a disk that was slow, a job that took a while) fall silent instead.
 */
import type { UwsResponse } from './uws.ts';

export class Exchange {
  readonly #response: UwsResponse;
  #watched = false;
  #gone = false;
  #ended = false;
  #begun = false;
  #whenGone: (() => void)[] | undefined;
  #pushed: (() => void) | undefined;

  constructor(response: UwsResponse) {
    this.#response = response;
  }

  /** True while the response may still be written. */
  get open(): boolean {
    return !this.#gone && !this.#ended;
  }

  /** True once the client has left before its answer was complete. */
  get gone(): boolean {
    return this.#gone;
  }

  /** True once part of the answer may be on its way. */
  get begun(): boolean {
    return this.#begun;
  }

  /** To be called before the route handler returns without having answered; the library insists. */
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

  /** Calls back once if the client leaves; at once if it has left. */
  whenGone(tell: () => void): void {
    if (this.#gone) tell();
    else if (this.#whenGone === undefined) this.#whenGone = [tell];
    else this.#whenGone.push(tell);
  }

  /** Runs `use` on the response in one write; nothing happens once it is closed. */
  use(use: (response: UwsResponse) => void): void {
    if (!this.open) return;
    this.#begun = true;
    if (this.#watched) this.#response.cork(() => use(this.#response));
    else use(this.#response);
  }

  /** Like `use`, for the write that completes the response. */
  finish(use: (response: UwsResponse) => void): void {
    this.use((response) => {
      use(response);
      this.#ended = true;
    });
  }

  /** Drops the connection: the only honest way out of a response that cannot be completed. */
  drop(): void {
    if (this.open) this.#response.close();
  }

  /**
   * Sends one piece of a body of `total` bytes; resolves when the socket has taken all of it (the buffer may be
   * used again), or the client has gone. `head` writes status and headers before the first piece.
   */
  push(piece: Buffer, total: number, head?: (response: UwsResponse) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#pushed = resolve;
      if (!this.open) resolve();
      let rest = piece;
      const attempt = (response: UwsResponse): boolean => {
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
        // The handler is replaced by the next piece's; each looks only at its own bytes.
        if (!attempt(response)) response.onWritable(() => !this.open || attempt(response));
      });
    });
  }
}
