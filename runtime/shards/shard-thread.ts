/** A thread that hosts actors, as seen by the main thread. */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type Remote, wrap } from 'comlink';
import type { HostReport } from '../host/actor-host.ts';
import type { ActorStore, Log, Step } from '../model/ports.ts';
import {
  ComputingMark,
  type FromShard,
  type ShardAnswer,
  type ShardApi,
  type ShardSetup,
  type ShardThreadData,
  type ToShard,
} from './wire.ts';

/** Receives the events of the thread of a shard. */
export interface ShardOwner {
  readonly log: Log;
  /** Receives the steps that the thread has written, until its right to write is `revoked`. */
  onCommitted(written: { readonly serial: number; readonly steps: readonly Step[] }): void;
  onAnswer(answers: readonly ShardAnswer[]): void;
  /** Called once, when the thread ends without having been closed. */
  onExit(why: string): void;
}

export interface ShardThreadOptions {
  /** URL of the module with the `shardModule`. */
  readonly parts: string;
  /** Heap limit, megabytes. */
  readonly memory: number;
  readonly share: NonNullable<ActorStore['shareWithThreads']>;
  readonly setup: ShardSetup;
}

export class ShardThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #api: Remote<ShardApi>;
  readonly #mark = new ComputingMark();
  /** Revokes its right to write; resolves once `onCommitted` has received all of its steps. */
  readonly revoke: () => Promise<void>;
  /** Resolves when the thread is ready to host a shard; rejects when it ends before. */
  readonly loaded: Promise<unknown>;
  readonly #mayEnd: Promise<void>;
  #ended: string | undefined;
  /** Rejects when the thread ends: calls to it are not answered otherwise. */
  readonly #exit: Promise<never>;
  #start: (error: Error) => void = () => {};
  #owner: ShardOwner | undefined;

  constructor({ parts, memory, share, setup }: ShardThreadOptions) {
    this.#exit = new Promise((_, reject) => {
      this.#start = reject;
    });
    this.#exit.catch(() => {});
    const { store, revoke } = share((written) => this.#owner?.onCommitted(written));
    this.revoke = revoke;
    const { port1, port2 } = new MessageChannel();
    const data: ShardThreadData = { port: port2, parts, mark: this.#mark.memory, store, setup };
    this.#port = port1;
    this.#worker = new Worker(new URL('./shard-worker.js', import.meta.url), {
      workerData: data,
      transferList: [port2, store.port as MessagePort],
      resourceLimits: { maxOldGenerationSizeMb: memory },
    });
    this.#api = wrap<ShardApi>(port1 as unknown as Parameters<typeof wrap>[0]);
    this.#worker.on('message', (message: FromShard) => {
      if (message.type === 'log') this.#owner?.log[message.level](message.text, message.properties);
      else this.#answered(message.answers);
    });
    const ready = this.#api.ping();
    this.#mayEnd = mayEnd(this.#worker, ready);
    this.loaded = Promise.race([ready, this.#exit]);
    // Until then it keeps the process alive: at a start, the first messages wait for it and nothing else runs.
    const idle = (): void => {
      if (this.#ended === undefined) this.#worker.unref();
    };
    this.loaded.then(idle, idle);
    this.#worker.on('error', (error) => this.#end(error.message));
    this.#worker.on('exit', (code) => {
      this.#end(`The thread ended (${code}).`);
      this.#port.close();
    });
    port1.unref();
  }

  /** Key of the actor whose step it computes, or was computing when it ended. */
  get computing(): string | undefined {
    return this.#mark.actor;
  }

  /** Assigns a shard to the thread. It must be `loaded`. */
  assign(shard: number, home: ShardOwner): void {
    this.#owner = home;
    // A spare may have been lost since it was loaded.
    if (this.#ended !== undefined) home.onExit(this.#ended);
    else this.#post({ shard });
  }

  /**
   * Sends calls; the answers arrive through the owner given at the assignment.
   * @param calls each as JSON
   */
  send(calls: readonly string[]): void {
    this.#post(`[${calls.join(',')}]`);
  }

  #post(message: ToShard): void {
    this.#worker.postMessage(message);
  }

  report(): Promise<HostReport> {
    return Promise.race([this.#api.report(), this.#exit]);
  }

  ping(): Promise<true> {
    return Promise.race([this.#api.ping(), this.#exit]);
  }

  /** Terminates the thread; one that still starts, once it is ready. */
  async terminate(why: string): Promise<void> {
    this.#end(why);
    await this.#stop();
  }

  /** Terminates the thread without an event, once each step that it has written was observed. */
  async close(): Promise<void> {
    await this.revoke();
    this.#owner = undefined;
    this.#end('It was closed.');
    await this.#stop();
  }

  async #stop(): Promise<void> {
    this.#worker.ref();
    await this.#mayEnd;
    this.#port.close();
    await this.#worker.terminate();
  }

  #answered(answers: readonly ShardAnswer[]): void {
    if (this.#ended === undefined) this.#owner?.onAnswer(answers);
  }

  #end(why: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = why;
    this.#start(new Error(why));
    this.#owner?.onExit(why);
  }
}

/**
 * Resolves once the thread can be terminated: it is ready, or has ended by itself. Terminating a thread that loads a
 * native module aborts the whole process, because the module's initialization fails where errors cannot be thrown:
 * https://github.com/kriszyp/lmdb-js/issues/200
 * @param ready settles when the thread has loaded all modules
 */
function mayEnd(worker: Pick<Worker, 'once'>, ready: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const settled = () => resolve();
    worker.once('exit', settled);
    ready.then(settled, settled);
  });
}
