/** HTTP client with persistent connections and low overhead, since it shares the processors with the server. */
import net from 'node:net';
import type { Ending } from '../frame/pace.ts';

/** Position of the status code in a status line, and the end of a header section. */
const STATUS_AT = 'HTTP/1.1 '.length;
const HEAD_END = Buffer.from('\r\n\r\n');

interface Connection {
  readonly socket: net.Socket;
  /** `performance.now()` when it was opened or last answered. */
  usedAt: number;
  answered: (status: number) => void;
  failed: (error: Error) => void;
}

/** Milliseconds after which an idle connection is not used again: the service closes it after ten seconds. */
const MAX_IDLE_MS = 5000;
const ignored = (): void => {};

export class Client {
  readonly #url: URL;
  readonly #most: number;
  readonly #expected: number;
  readonly #all: Connection[] = [];
  /** Idle connections, last used first out: servers close idle ones. */
  readonly #idle: Connection[] = [];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  #opening = 0;

  private constructor(url: string, most: number, expected: number) {
    this.#url = new URL(url);
    this.#most = most;
    this.#expected = expected;
  }

  /**
   * Opens a client. @param connections maximum; a connection closed while idle is reopened on demand @param expected
   * status of success
   */
  static async open(url: string, connections: number, expected: number): Promise<Client> {
    const client = new Client(url, connections, expected);
    client.#idle.push(...(await Promise.all(Array.from({ length: connections }, () => client.#connect()))));
    return client;
  }

  async #connect(): Promise<Connection> {
    this.#opening += 1;
    try {
      return await this.#connected();
    } finally {
      this.#opening -= 1;
    }
  }

  #connected(): Promise<Connection> {
    const { hostname: host, port } = this.#url;
    return new Promise((resolve, reject) => {
      const socket = net.connect({ host, port: Number(port), noDelay: true });
      const connection: Connection = { socket, usedAt: performance.now(), answered: ignored, failed: reject };
      socket.on('error', (error) => connection.failed(error));
      socket.on('close', () => {
        for (const kept of [this.#all, this.#idle]) {
          const at = kept.indexOf(connection);
          if (at >= 0) kept.splice(at, 1);
        }
        connection.failed(new Error('The server closed a connection.'));
      });
      socket.on('connect', () => {
        this.#all.push(connection);
        resolve(connection);
      });
      const answers = new Answers();
      socket.on('data', (piece: Buffer) => {
        try {
          const status = answers.whole(piece);
          if (status !== undefined) connection.answered(status);
        } catch (error) {
          connection.failed(error as Error);
        }
      });
    });
  }

  /** Sends one whole request on a free connection. Rejects for an unexpected status. */
  async ask(request: Buffer): Promise<Ending> {
    const connection = this.#takeIdle() ?? (await this.#another());
    const ending = await new Promise<Ending>((resolve, reject) => {
      connection.failed = reject;
      connection.answered = (status) => {
        const ended = this.#ending(status);
        if (ended instanceof Error) reject(ended);
        else resolve(ended);
      };
      connection.socket.write(request);
    });
    connection.failed = ignored;
    connection.usedAt = performance.now();
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(connection);
    else next(connection);
    return ending;
  }

  /** The idle connection that was used last; closes the others with it when it is too old. */
  #takeIdle(): Connection | undefined {
    const connection = this.#idle.pop();
    if (connection === undefined || performance.now() - connection.usedAt < MAX_IDLE_MS) return connection;
    for (const old of [connection, ...this.#idle.splice(0)]) {
      old.failed = ignored;
      const at = this.#all.indexOf(old);
      if (at >= 0) this.#all.splice(at, 1);
      old.socket.destroy();
    }
    return undefined;
  }

  #another(): Promise<Connection> {
    if (this.#all.length + this.#opening < this.#most) return this.#connect();
    return new Promise((give) => this.#waiting.push(give));
  }

  /** Keeps every connection busy for that many milliseconds, without a promise per request. */
  async flatOut(millis: number, request: () => Buffer): Promise<Outcome> {
    const closed = Array.from({ length: this.#most - this.#all.length }, () => this.#connect());
    this.#idle.push(...(await Promise.all(closed)));
    const outcome = { done: 0, refused: 0 };
    const startedAt = performance.now();
    const worker = (connection: Connection) =>
      new Promise<void>((resolve, reject) => {
        const next = (): void => {
          if (performance.now() - startedAt < millis) connection.socket.write(request());
          else resolve();
        };
        connection.failed = reject;
        connection.answered = (status) => {
          const ended = this.#ending(status);
          if (ended instanceof Error) return reject(ended);
          outcome[ended] += 1;
          next();
        };
        next();
      });
    await Promise.all(this.#all.map(worker));
    return { ...outcome, millis: performance.now() - startedAt };
  }

  #ending(status: number): Ending | Error {
    if (status === this.#expected) return 'done';
    if (status === 503 || status === 429) return 'refused';
    return new Error(`Answered ${status}, expected ${this.#expected}.`);
  }

  close(): void {
    for (const connection of [...this.#all]) {
      connection.failed = ignored;
      connection.socket.destroy();
    }
  }
}

/** Splits the responses on one connection, one at a time. */
class Answers {
  #kept: Buffer | undefined;
  /** Length of the last response: the next one is usually equal, which avoids parsing its header. */
  #length = -1;
  #status = 0;

  /** Returns the status when header and body are complete. */
  whole(piece: Buffer): number | undefined {
    const bytes = this.#kept === undefined ? piece : Buffer.concat([this.#kept, piece]);
    if (bytes.length === this.#length && statusOf(bytes) === this.#status) {
      this.#kept = undefined;
      return this.#status;
    }
    const length = lengthOf(bytes);
    this.#kept = length === undefined || bytes.length < length ? bytes : undefined;
    if (this.#kept !== undefined) return undefined;
    this.#length = bytes.length;
    this.#status = statusOf(bytes);
    return this.#status;
  }
}

const ZERO = 0x30;

function statusOf(bytes: Buffer): number {
  const digit = (at: number) => (bytes[STATUS_AT + at] ?? 0) - ZERO;
  return digit(0) * 100 + digit(1) * 10 + digit(2);
}

/** Length of header and body; undefined while the header is incomplete. */
function lengthOf(bytes: Buffer): number | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const length = /\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (!head.startsWith('HTTP/1.1 ') || length === undefined)
    throw new Error(`No answer of a server: ${head}`);
  return end + HEAD_END.length + Number(length);
}

export interface Outcome {
  readonly done: number;
  readonly refused: number;
  readonly millis: number;
}

export function getRequest(path: string, headers: Readonly<Record<string, string>>): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines(headers)}\r\n`);
}

/** Builds uploads of `content` as multipart/form-data, each under a new name, `upload-0000001.pdf` and so on. */
export function uploadRequests(
  path: string,
  headers: Readonly<Record<string, string>>,
  content: Buffer,
): () => Buffer {
  const boundary = 'sealwright-bench-boundary';
  const number = '0000000';
  const before = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="upload-${number}.pdf"\r\nContent-Type: application/pdf\r\n\r\n`;
  const after = `\r\n--${boundary}--\r\n`;
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${lines(headers)}Content-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${before.length + content.length + after.length}\r\n\r\n`;
  const model = Buffer.concat([Buffer.from(head + before), content, Buffer.from(after)]);
  const at = model.indexOf(`upload-${number}`) + 'upload-'.length;
  let count = 0;
  return () => {
    const request = Buffer.from(model);
    request.write(String(++count).padStart(number.length, '0'), at, 'latin1');
    return request;
  };
}

function lines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}
