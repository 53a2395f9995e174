/** Drives Chromium by its protocol of developer tools, over two pipes: JSON messages that end with a zero byte. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell', '/usr/bin/google-chrome'];

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

export interface BrowserPage {
  ask<Result>(method: string, params?: object): Promise<Result>;
  close(): Promise<void>;
}

/** Returns the path of the browser; undefined when none is installed. */
function chromiumPath(): string | undefined {
  return PLACES.find((path) => existsSync(path));
}

export class Chromium {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #asked = 0;
  #rest = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    const answers = child.stdio[4] as Readable;
    answers.setEncoding('utf8').on('data', (piece: string) => this.#receive(piece));
    child.once('close', () => {
      for (const tell of this.#waiting.values()) tell({ error: { message: 'The browser has ended.' } });
    });
  }

  /** @param folder of its profile @throws {Error} without a browser */
  static async start(folder: string): Promise<Chromium> {
    const path = chromiumPath();
    if (path === undefined) throw new Error(`There is no Chromium at ${PLACES.join(' or ')}.`);
    const words = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${folder}`];
    const child = spawn(path, [...words, '--remote-debugging-pipe'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    await once(child, 'spawn');
    return new Chromium(child);
  }

  /** A page without the cache and the cookies of others. */
  async page(): Promise<BrowserPage> {
    const { browserContextId } = await this.#ask<{ browserContextId: string }>('Target.createBrowserContext');
    const target = { url: 'about:blank', browserContextId };
    const { targetId } = await this.#ask<{ targetId: string }>('Target.createTarget', target);
    const attached = { targetId, flatten: true };
    const { sessionId } = await this.#ask<{ sessionId: string }>('Target.attachToTarget', attached);
    return {
      ask: (method, params) => this.#ask(method, params, sessionId),
      close: () => this.#ask('Target.disposeBrowserContext', { browserContextId }),
    };
  }

  async close(): Promise<void> {
    const closed = once(this.#child, 'close');
    this.#child.kill();
    await closed;
  }

  #ask<Result>(method: string, params: object = {}, sessionId?: string): Promise<Result> {
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        this.#waiting.delete(id);
        if (error === undefined) resolve(result as Result);
        else reject(new Error(`${method}: ${error.message}`));
      });
      (this.#child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  #receive(piece: string): void {
    const messages = (this.#rest + piece).split('\0');
    this.#rest = messages.pop() ?? '';
    for (const message of messages) {
      const answer: Answer = JSON.parse(message);
      if (answer.id !== undefined) this.#waiting.get(answer.id)?.(answer);
    }
  }
}
