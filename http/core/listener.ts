/** A listening port and its request handler. */
import type { Clock, Log } from '../../runtime/index.ts';
import type { Dispatcher } from './dispatch.ts';
import type { ListenSettings } from './settings.ts';
import { loadUws, type Uws, type UwsApp, type UwsListenSocket } from './uws.ts';

export interface HttpServer {
  /**
   * Starts listening; resolves when connections are accepted, and `url` has the actual port. Rejects with code
   * `listen.failed` when the address is unavailable, `uws.unavailable` without a binary.
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

export class Listener implements HttpServer {
  readonly #dispatcher: Dispatcher;
  readonly #settings: ListenSettings;
  readonly #clock: Clock;
  readonly #log: Log;
  #open: { readonly uws: Uws; readonly app: UwsApp; readonly socket: UwsListenSocket } | undefined;
  #closed: Promise<void> | undefined;

  constructor(dispatcher: Dispatcher, settings: ListenSettings, clock: Clock, log: Log) {
    this.#dispatcher = dispatcher;
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
  }

  async listen(): Promise<{ readonly url: string }> {
    const uws = loadUws();
    const { host, port, tls } = this.#settings;
    const app =
      tls === undefined
        ? uws.App()
        : uws.SSLApp({ key_file_name: tls.keyPath, cert_file_name: tls.certificatePath });
    app.any('/*', this.#dispatcher.handle);
    const socket = await new Promise<UwsListenSocket | false>((resolve) => {
      // Without this option two processes could share the port and split the connections.
      app.listen(host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
    });
    if (socket === false) {
      app.close();
      throw new ListenFailure(host, port);
    }
    this.#open = { uws, app, socket };
    const name = host.includes(':') ? `[${host}]` : host;
    const url = `${tls === undefined ? 'http' : 'https'}://${name}:${uws.us_socket_local_port(socket)}`;
    this.#log.info('Listening.', { Url: url });
    return { url };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    open.uws.us_listen_socket_close(open.socket);
    let stopWaiting = () => {};
    const deadline = new Promise<void>((resolve) => {
      stopWaiting = this.#clock.after(this.#settings.shutdownTimeout, resolve);
    });
    await Promise.race([this.#dispatcher.drain(), deadline]);
    stopWaiting();
    if (this.#dispatcher.underWay > 0) {
      this.#log.warn('Requests were dropped at the end of the shutdown time.', {
        Count: this.#dispatcher.underWay,
      });
    }
    open.app.close();
  }
}
