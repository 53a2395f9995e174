/** A response of `node:http` in the shape of `port.ts`, with the time-outs and the memory limits of uWebSockets. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '@sealwright/runtime';
import type { Octets, PortOptions, ResponseWriter } from './port.ts';

/**
 * As in uWebSockets, milliseconds: time in which nothing happens on a connection that waits for its client, or in which
 * a body brings less than `BODY_BYTES`, unless its reader grants more time (`resume`). The connection is dropped then.
 */
export const TIMEOUT_MS = 10_000;
const BODY_BYTES = 160 * 1024;

/** Bytes of whole replies that wait on one connection for the client to read, at which the next request waits, too. */
const QUEUED_BYTES = 64 * 1024;

/** The state of a connection. */
interface Connection {
  /** The response that is not complete. */
  current: NodeResponse | undefined;
  /** Bytes of complete responses that the socket has not accepted. */
  queued: number;
  /** Cancels the timer of the body that is read. */
  stopTimer: (() => void) | undefined;
}

const connections = new WeakMap<Duplex, Connection>();

function connectionOf(socket: Duplex): Connection {
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const connection: Connection = { current: undefined, queued: 0, stopTimer: undefined };
  connections.set(socket, connection);
  socket.once('close', () => {
    connection.stopTimer?.();
    connection.current?.abort();
  });
  return connection;
}

export class NodeResponse implements ResponseWriter {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #keepAliveSeconds: number;
  readonly #connection: Connection;
  readonly #waitsForContinue: boolean;
  #status = '200 OK';
  readonly #headers: string[] = [];
  #written = 0;
  #isComplete = false;
  #isSending = false;
  #writable: ((offset: number) => boolean) | undefined;
  #aborted: (() => void) | undefined;
  #data: ((chunk: Uint8Array, isLast: boolean) => void) | undefined;
  #hasBody: boolean;
  /** Bytes of the body since the timer was set. */
  #arrived = 0;

  /** Returns the response on this connection that is not complete. */
  static of(socket: Duplex): NodeResponse | undefined {
    return connections.get(socket)?.current;
  }

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { clock, keepAliveSeconds }: Pick<PortOptions, 'clock' | 'keepAliveSeconds'>,
  ) {
    this.#request = request;
    this.#response = response;
    this.#clock = clock;
    this.#keepAliveSeconds = keepAliveSeconds;
    this.#connection = connectionOf(request.socket);
    this.#connection.current = this;
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    this.#hasBody = coding !== undefined || Number(length) !== 0;
    this.#waitsForContinue = request.headers.expect?.toLowerCase() === '100-continue';
    // Clients that disconnect are noticed at the socket.
    response.on('error', () => {});
    request.on('error', () => {});
  }

  /** True once a part of the reply may have been sent. */
  get begun(): boolean {
    return this.#response.headersSent;
  }

  /** True once the whole reply was handed over. */
  get isEnding(): boolean {
    return this.#response.writableEnded;
  }

  /** True while the client has not taken what was sent to it. */
  get isSending(): boolean {
    return this.#isSending;
  }

  writeStatus(status: Octets): this {
    this.#status = text(status);
    return this;
  }

  writeHeader(name: string, value: string): this {
    const [first = '', ...further] = value.split('\r\n');
    this.#headers.push(name, latin1(first));
    for (const line of further) {
      const colon = line.indexOf(':');
      this.#headers.push(line.slice(0, colon), latin1(line.slice(colon + 1).trim()));
    }
    return this;
  }

  end(body?: Octets, closeConnection = false): this {
    const { socket } = this.#request;
    if (closeConnection) this.#response.shouldKeepAlive = false;
    if (closeConnection && this.#response.headersSent)
      this.#response.once('finish', () => socket.destroySoon());
    if (body !== undefined && !this.#response.headersSent)
      this.#headers.push('Content-Length', String(byteLength(body)));
    this.#sendHead();
    this.#response.end(body);
    this.#complete();
    return this;
  }

  endWithoutBody(): this {
    return this.end();
  }

  write(chunk: Octets): boolean {
    this.#sendHead();
    this.#written += byteLength(chunk);
    this.#whenFlushed((tell) => this.#response.write(chunk, tell));
    return false;
  }

  tryEnd(chunk: Octets, totalSize: number): [boolean, boolean] {
    const length = byteLength(chunk);
    const isWhole = length === totalSize;
    const hadAll = this.#written === totalSize && this.#response.headersSent;
    if (!this.#response.headersSent) this.#headers.push('Content-Length', String(totalSize));
    this.#sendHead();
    this.#written += length;
    const hasAll = this.#written >= totalSize;
    if (hasAll && !hadAll) this.#response.end(chunk);
    else if (length > 0) this.#response.write(chunk);
    const unsent = this.#response.writableLength;
    // The memory of a part is used again, that of a whole body is not.
    if (unsent === 0 || (isWhole && this.#connection.queued + unsent <= QUEUED_BYTES)) {
      if (hasAll) this.#complete();
      return [true, hasAll];
    }
    this.#whenFlushed((tell) =>
      hasAll ? this.#response.once('finish', tell) : this.#response.write('', tell),
    );
    return [false, false];
  }

  getWriteOffset(): number {
    return this.#written;
  }

  onWritable(handler: (offset: number) => boolean): this {
    this.#writable = handler;
    return this;
  }

  onAborted(handler: () => void): this {
    this.#aborted = handler;
    return this;
  }

  onData(handler: (chunk: Uint8Array, isLast: boolean) => void): this {
    this.#data = handler;
    if (this.#waitsForContinue) this.#response.writeContinue();
    this.#readBody();
    return this;
  }

  pause(): void {
    this.#stopTimer();
    this.#request.pause();
  }

  resume(): void {
    if (this.#hasBody) this.#setTimer();
    this.#request.resume();
  }

  cork(write: () => void): this {
    write();
    return this;
  }

  close(): this {
    this.#request.socket.destroy();
    return this;
  }

  getRemoteAddressAsText(): ArrayBuffer {
    return new TextEncoder().encode(this.#request.socket.remoteAddress ?? '').buffer;
  }

  /** The client has disconnected before the response was complete. */
  abort(): void {
    if (this.#isComplete) return;
    this.#isComplete = true;
    this.#connection.current = undefined;
    this.#endBody();
    this.#aborted?.();
  }

  #sendHead(): void {
    if (this.#response.headersSent) return;
    const [status = '200'] = this.#status.split(' ', 1);
    // Node would name the time after which the server itself closes the connection.
    if (this.#response.shouldKeepAlive) {
      const seconds = Math.ceil(this.#keepAliveSeconds / 2);
      this.#headers.push('Connection', 'keep-alive', 'Keep-Alive', `timeout=${seconds}`);
    }
    this.#response.writeHead(Number(status), this.#status.slice(status.length + 1), this.#headers);
  }

  /** Calls `onWritable`'s handler when everything is sent. */
  #whenFlushed(register: (tell: () => void) => void): void {
    this.#isSending = true;
    register(() => {
      this.#isSending = false;
      if (this.#isComplete) return;
      const handler = this.#writable;
      this.#writable = undefined;
      if (handler !== undefined && !handler(this.#written)) this.#writable ??= handler;
    });
  }

  /** The next request may come. */
  #complete(): void {
    this.#isComplete = true;
    const connection = this.#connection;
    connection.current = undefined;
    const unsent = this.#response.writableLength;
    if (unsent > 0) {
      connection.queued += unsent;
      this.#response.once('finish', () => {
        connection.queued -= unsent;
      });
    }
    // A body that the handler has not read is read and dropped, at the same minimum rate.
    if (this.#hasBody && this.#data === undefined) this.#readBody();
  }

  #readBody(): void {
    const request = this.#request;
    if (this.#hasBody) this.#setTimer();
    request.on('data', (chunk: Buffer) => {
      this.#arrived += chunk.length;
      if (this.#arrived >= BODY_BYTES && this.#connection.stopTimer !== undefined) this.#setTimer();
      this.#data?.(chunk, false);
    });
    request.once('end', () => {
      this.#endBody();
      if (!this.#isComplete) this.#data?.(new Uint8Array(), true);
    });
  }

  #setTimer(): void {
    this.#arrived = 0;
    this.#stopTimer();
    this.#connection.stopTimer = this.#clock.after(TIMEOUT_MS, () => void this.close());
  }

  #endBody(): void {
    this.#hasBody = false;
    this.#stopTimer();
  }

  #stopTimer(): void {
    this.#connection.stopTimer?.();
    this.#connection.stopTimer = undefined;
  }
}

function byteLength(octets: Octets): number {
  return typeof octets === 'string' ? Buffer.byteLength(octets) : octets.byteLength;
}

function text(octets: Octets): string {
  return typeof octets === 'string' ? octets : Buffer.from(octets).toString('latin1');
}

const CONTROLS = /(?!\t)\p{Cc}/gu;
const NOT_ASCII = /[^ -~\t]/;

/** Node writes each character as one byte, and refuses control characters; the other library writes UTF-8. */
function latin1(value: string): string {
  const plain = value.replace(CONTROLS, ' ');
  return NOT_ASCII.test(plain) ? Buffer.from(plain).toString('latin1') : plain;
}
