/** A listening port and its request handler. */
import type { Clock, Log } from '@sealwright/runtime';
import type { Dispatcher } from './dispatch.ts';
import type { ListenSettings } from './settings.ts';
import { watchTlsFiles } from './tls-renewal.ts';
import { openNodePort } from './transport/node-http.ts';
import type { OpenPort } from './transport/port.ts';
import { openUwsPort, unavailableUws } from './transport/uws.ts';

export interface HttpServer {
  /**
   * Starts listening; resolves when connections are accepted, and `url` has the actual port. Rejects with code
   * `listen.failed` when the address is unavailable.
   */
  listen(): Promise<{ readonly url: string }>;
  /**
   * Stops accepting connections, waits for requests in progress (at most `shutdownTimeout`), then drops the rest.
   * Call before the process exits; further calls do nothing.
   */
  close(): Promise<void>;
}

/** The address is unavailable: in use, not of this machine, or not permitted. */
export class ListenFailure extends Error {
  readonly code = 'listen.failed';
  constructor(host: string, port: number) {
    super(`Cannot listen on ${host}:${port}: in use, not an address of this machine, or not allowed.`);
    this.name = 'ListenFailure';
  }
}

/** Longer than the minute for which proxies usually keep a connection: who closes first must be the client. */
const KEEP_ALIVE_SECONDS = 75;

export class Listener implements HttpServer {
  #open: OpenPort | undefined;
  #closed: Promise<void> | undefined;
  #stopWatching = () => {};
  /** With the key of TLS: not among the fields that are printed. */
  readonly #settings: ListenSettings;

  constructor(
    private readonly dispatcher: Dispatcher,
    settings: ListenSettings,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    this.#settings = settings;
  }

  async listen(): Promise<{ readonly url: string }> {
    const { host, port, tls, httpLibrary = 'auto', connectionClock: clock = this.clock } = this.#settings;
    const { keepAliveSeconds } = this.#settings;
    const unavailable = httpLibrary === 'node' ? undefined : unavailableUws();
    if (unavailable !== undefined)
      this.log.warn(
        'node:http serves this address, at a part of the usual speed: uWebSockets does not load.',
        {
          Reason: unavailable,
        },
      );
    const openPort = httpLibrary === 'node' || unavailable !== undefined ? openNodePort : openUwsPort;
    if (keepAliveSeconds !== undefined && openPort === openUwsPort)
      this.log.warn(
        'Hosting:KeepAliveSeconds has no effect: uWebSockets closes idle connections after 8 to 12 s. Set Hosting:HttpLibrary to node, or let the proxy close them first.',
      );
    if (tls) {
      // Before the port reads the files: a renewal between the two readings would not be seen.
      const renew = () => this.#open?.renewTls();
      this.#stopWatching = await watchTlsFiles({ files: tls, clock: this.clock, log: this.log, renew });
    }
    const open = await openPort(
      { host, port, ...(tls && { tls }), clock, keepAliveSeconds: keepAliveSeconds ?? KEEP_ALIVE_SECONDS },
      this.dispatcher.handle,
    ).catch((error: unknown) => {
      this.#stopWatching();
      throw error;
    });
    if (open === undefined) {
      this.#stopWatching();
      throw new ListenFailure(host, port);
    }
    this.#open = open;
    const name = host.includes(':') ? `[${host}]` : host;
    const url = `${tls === undefined ? 'http' : 'https'}://${name}:${open.port}`;
    this.log.info('Listening.', { Url: url });
    return { url };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    this.#stopWatching();
    open.stopAccepting();
    let stopWaiting = () => {};
    const deadline = new Promise<void>((resolve) => {
      stopWaiting = this.clock.after(this.#settings.shutdownTimeout, resolve);
    });
    await Promise.race([this.dispatcher.drain(), deadline]);
    stopWaiting();
    if (this.dispatcher.underWay > 0) {
      this.log.warn('Requests were dropped at the end of the shutdown time.', {
        Count: this.dispatcher.underWay,
      });
    }
    open.close();
  }
}
