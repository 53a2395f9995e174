/**
 * The interface between the listeners and the HTTP library below them. uWebSockets has this shape itself (`uws.ts`);
 * `node-http.ts` gives `node:http` the same shape, for platforms without a uWebSockets binary.
 */
import type { Clock } from '@sealwright/runtime';

/** Text or bytes that the library accepts. */
export type Octets = string | Uint8Array;

/** A response in progress. Touching it after it has ended or was aborted ends the process: see `exchange.ts`. */
export interface ResponseWriter {
  writeStatus(status: Octets): ResponseWriter;
  /** Writes a header; the value may go on with complete lines of further headers. */
  writeHeader(name: string, value: string): ResponseWriter;
  end(body?: Octets, closeConnection?: boolean): ResponseWriter;
  endWithoutBody(): ResponseWriter;
  /** Sends a chunk of a body of unknown length, or keeps it until the socket accepts it; false: it is kept. */
  write(chunk: Octets): boolean;
  /** Sends as much as the socket accepts: `[everything was accepted, the response is complete]`. */
  tryEnd(chunk: Octets, totalSize: number): [boolean, boolean];
  getWriteOffset(): number;
  onWritable(handler: (offset: number) => boolean): ResponseWriter;
  onAborted(handler: () => void): ResponseWriter;
  /** The chunk is emptied when the handler returns. */
  onData(handler: (chunk: ArrayBuffer | Uint8Array, isLast: boolean) => void): ResponseWriter;
  /** Stops reading the body and the ten-second timer. Chunks already read still arrive. */
  pause(): void;
  /** Resumes reading and restarts the ten-second timer. */
  resume(): void;
  cork(write: () => void): ResponseWriter;
  /** Drops the connection; the abort handler runs. */
  close(): ResponseWriter;
  getRemoteAddressAsText(): ArrayBuffer;
}

/** A request; readable only until the route handler returns. */
export interface RequestHead {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  /** The query string without `?`; undefined when absent. */
  getQuery(): string | undefined;
  /** The first header of this (lower-case) name, or the empty string. */
  getHeader(lowerCaseName: string): string;
  /** Every header in order, names in lower case; a name may occur more than once. */
  forEach(tell: (name: string, value: string) => void): void;
}

/** Receives each request. Reads `request` only before it returns. */
export type RequestHandler = (response: ResponseWriter, request: RequestHead) => void;

export interface PortOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Serve https; both are PEM files. */
  readonly tls?: { readonly certificatePath: string; readonly keyPath: string };
  readonly clock: Pick<Clock, 'after'>;
  /** Time that `node:http` keeps a connection after an answer; uWebSockets has a fixed one. Seconds. */
  readonly keepAliveSeconds: number;
}

/** A port that accepts connections. */
export interface OpenPort {
  readonly port: number;
  /**
   * Serves further connections with what the files of TLS hold now; those that exist go on. For ports with TLS. Throws
   * when the files cannot be used; the port then goes on as before.
   */
  renewTls(): void;
  /** Accepts no further connections; those that exist go on. */
  stopAccepting(): void;
  /** Drops every connection. */
  close(): void;
}

/** Opens a port; undefined when the address is unavailable. */
export type OpenListener = (options: PortOptions, handle: RequestHandler) => Promise<OpenPort | undefined>;
