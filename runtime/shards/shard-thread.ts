/** The main thread's end of one thread that hosts actors. */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type Remote, wrap } from 'comlink';
import type { HostReport } from '../host.ts';
import type { ActorStore, Log, Step } from '../ports.ts';
import type { FromShard, ShardAnswer, ShardApi, ShardCall, ShardSetup, ShardThreadData } from './wire.ts';
import { WorkMark } from './work-mark.ts';

/** Who hears of what the thread of a shard says. */
export interface ShardHome {
  readonly log: Log;
  /** Of steps it has written; also of those of its last moments, until its right to write is `revoked`. */
  heard(written: { readonly serial: number; readonly steps: readonly Step[] }): void;
  answered(answers: readonly ShardAnswer[]): void;
  /** Told once, when the thread ends without having been closed. */
  lost(why: string): void;
}

export interface ShardThreadParts {
  /** URL of the module with the `shardParts`. */
  readonly parts: string;
  /** Most megabytes of heap. */
  readonly memory: number;
  readonly share: NonNullable<ActorStore['share']>;
  readonly setup: ShardSetup;
}

export class ShardThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #api: Remote<ShardApi>;
  readonly #mark = new WorkMark();
  /** Lets it write nothing more; resolves once `heard` was told of all that it wrote. */
  readonly revoke: () => Promise<void>;
  /** Resolves when it could take over a shard at once; rejects when it ends before. */
  readonly loaded: Promise<unknown>;
  #ended: string | undefined;
  /** Rejects when it ends: calls to it are answered by nothing else then. */
  readonly #gone: Promise<never>;
  #go: (error: Error) => void = () => {};
  #home: ShardHome | undefined;

  constructor({ parts, memory, share, setup }: ShardThreadParts) {
    this.#gone = new Promise((_, reject) => {
      this.#go = reject;
    });
    this.#gone.catch(() => {});
    const { store, revoke } = share((written) => this.#home?.heard(written));
    this.revoke = revoke;
    const { port1, port2 } = new MessageChannel();
    const data: ShardThreadData = { port: port2, parts, mark: this.#mark.memory, store, setup };
    this.#port = port1;
    this.#worker = new Worker(new URL('./shard-worker.js', import.meta.url), {
      workerData: data,
      transferList: [port2, store.port],
      resourceLimits: { maxOldGenerationSizeMb: memory },
    });
    this.#api = wrap<ShardApi>(port1 as unknown as Parameters<typeof wrap>[0]);
    this.#worker.on('message', (message: FromShard) => {
      if (message.type === 'log') this.#home?.log[message.level](message.text, message.properties);
      else this.#answered(message.answers);
    });
    this.loaded = this.ping();
    // Until then it keeps the process alive: at a start, the first messages wait for it and nothing else goes on.
    const idle = (): void => this.#worker.unref();
    this.loaded.then(idle, idle);
    this.#worker.on('error', (error) => this.#end(error.message));
    this.#worker.on('exit', (code) => this.#end(`The thread ended (${code}).`));
    port1.unref();
  }

  /** Key of the actor whose step it computes, or was computing when it ended. */
  get computing(): string | undefined {
    return this.#mark.actor;
  }

  /** Makes it the home of a shard. It is to be `loaded`. */
  begin(shard: number, home: ShardHome): void {
    this.#home = home;
    // A spare may have been lost since it was loaded.
    if (this.#ended !== undefined) home.lost(this.#ended);
    else this.#api.begin(shard).catch(() => {});
  }

  /** Answered through the home it was given. */
  take(calls: readonly ShardCall[]): void {
    this.#api.take([...calls]).then(
      (answers) => this.#answered(answers),
      () => {},
    );
  }

  report(): Promise<HostReport> {
    return Promise.race([this.#api.report(), this.#gone]);
  }

  ping(): Promise<true> {
    return Promise.race([this.#api.ping(), this.#gone]);
  }

  /** Ends it at once, whatever it is at. */
  async terminate(why: string): Promise<void> {
    this.#end(why);
    await this.#worker.terminate();
  }

  /** Ends it without telling anybody. */
  async close(): Promise<void> {
    this.#home = undefined;
    this.#end('It was closed.');
    await this.#worker.terminate();
  }

  #answered(answers: readonly ShardAnswer[]): void {
    if (this.#ended === undefined) this.#home?.answered(answers);
  }

  #end(why: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = why;
    this.#go(new Error(why));
    this.#port.close();
    this.#home?.lost(why);
  }
}
