/** The main thread's end of one thread that hosts actors. */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type Remote, transfer, wrap } from 'comlink';
import type { HostReport } from '../host.ts';
import type { Log } from '../ports.ts';
import type { FromShard, ShardAnswer, ShardApi, ShardCall, ShardSetup, ShardThreadData } from './wire.ts';
import { WorkMark } from './work-mark.ts';

/** Who hears of what the thread of a shard says. */
export interface ShardHome {
  readonly log: Log;
  answered(answers: readonly ShardAnswer[]): void;
  /** Told once, when the thread ends without having been closed. */
  lost(why: string): void;
}

export class ShardThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #api: Remote<ShardApi>;
  readonly #mark = new WorkMark();
  /** Resolves when what it needs is loaded; rejects when it ends before. */
  readonly loaded: Promise<void>;
  #ended: string | undefined;
  /** Rejects when it ends: calls to it are answered by nothing else then. */
  readonly #gone: Promise<never>;
  #go: (error: Error) => void = () => {};
  #home: ShardHome | undefined;

  /** @param memory most megabytes of heap */
  constructor(parts: string, memory: number) {
    this.#gone = new Promise((_, reject) => {
      this.#go = reject;
    });
    this.#gone.catch(() => {});
    const { port1, port2 } = new MessageChannel();
    const data: ShardThreadData = { port: port2, parts, mark: this.#mark.memory };
    this.#port = port1;
    this.#worker = new Worker(new URL('./shard-worker.js', import.meta.url), {
      workerData: data,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: memory },
    });
    this.#api = wrap<ShardApi>(port1 as unknown as Parameters<typeof wrap>[0]);
    const loaded = new Promise<void>((resolve) => {
      this.#worker.on('message', (message: FromShard) => {
        if (message.type === 'loaded') resolve();
        else if (message.type === 'answers') this.#home?.answered(message.answers);
        else this.#home?.log[message.level](message.text, message.properties);
      });
    });
    this.loaded = Promise.race([loaded, this.#gone]);
    // Whoever needs it waits for it; a spare that is never needed does not.
    this.loaded.catch(() => {});
    this.#worker.on('error', (error) => this.#end(error.message));
    this.#worker.on('exit', (code) => this.#end(`The thread ended (${code}).`));
    this.#worker.unref();
    port1.unref();
  }

  /** Key of the actor whose step it computes, or was computing when it ended. */
  get computing(): string | undefined {
    return this.#mark.actor;
  }

  /** Makes it the home of a shard. */
  async begin(setup: ShardSetup, home: ShardHome): Promise<void> {
    this.#home = home;
    const begun = this.#api.begin(transfer(setup, [setup.store.port as unknown as ArrayBuffer]));
    await Promise.race([begun, this.#gone]);
  }

  /** Answered through the home it was given. */
  take(calls: readonly ShardCall[]): void {
    this.#api.take([...calls]).then(
      (answers) => this.#home?.answered(answers),
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

  #end(why: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = why;
    this.#go(new Error(why));
    this.#port.close();
    this.#home?.lost(why);
  }
}
