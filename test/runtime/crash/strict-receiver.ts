/**
 * The far side of effects: a real HTTP server that lives longer than whoever calls it, remembers every effect key with
 * the body that came under it, and notes whatever must never happen. Where it is told to, it hangs up now and then.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const KEY_HEADER = 'effect-key';

export class StrictReceiver {
  /** Everything that was done: the body of each key. */
  readonly bodies = new Map<string, string>();
  /** Breaches, in words: a key that came with two bodies, a piece of work that came under two keys. */
  readonly breaches: string[] = [];
  /** Calls, those that came again under their key included. */
  calls = 0;
  readonly #hangUpEvery: number;
  readonly #keys = new Map<string, string>();
  readonly #seen = new Map<string, number>();
  readonly #server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const turn = ++this.calls % (2 * this.#hangUpEvery);
      if (turn === this.#hangUpEvery) {
        request.socket.destroy();
        return;
      }
      const status = this.#take(
        String(request.headers[KEY_HEADER] ?? ''),
        Buffer.concat(pieces).toString('utf8'),
      );
      if (turn === 0) request.socket.destroy();
      else response.writeHead(status).end();
    });
  });

  /**
   * @param hangUpEvery one call of so many is never answered: of these every second one is done, the others are not.
   * @default every call is answered
   */
  constructor(hangUpEvery: number = Number.POSITIVE_INFINITY) {
    this.#hangUpEvery = hangUpEvery;
  }

  /** Resolves with the port it listens on. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Pieces of work done for an actor, whose id its bodies begin with. */
  seen(actor: string): number {
    return this.#seen.get(actor) ?? 0;
  }

  /** 204 for a new or identical request, 409 for a key with another body. */
  #take(key: string, body: string): number {
    const before = this.bodies.get(key);
    if (before !== undefined) {
      if (before === body) return 204;
      this.breaches.push(`${key} came with ${before} and then with ${body}`);
      return 409;
    }
    const other = this.#keys.get(body);
    if (other !== undefined) this.breaches.push(`${body} came under ${other} and under ${key}`);
    this.bodies.set(key, body);
    this.#keys.set(body, key);
    const actor = body.split(' ', 1)[0] ?? '';
    this.#seen.set(actor, this.seen(actor) + 1);
    return 204;
  }
}
