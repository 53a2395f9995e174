/** The main thread's end of one thread that hosts actors. */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { proxy, type Remote, transfer, wrap } from 'comlink';
import type { HostReport } from '../host.ts';
import type { Log } from '../ports.ts';
import type { LogLevel, ShardAnswer, ShardApi, ShardCall, ShardSetup, ShardThreadData } from './wire.ts';
import { WorkMark } from './work-mark.ts';

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
  #tell: (why: string) => void = () => {};

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
    this.loaded = Promise.race([
      new Promise<void>((resolve) => this.#worker.once('message', () => resolve())),
      this.#gone,
    ]);
    // Whoever needs it waits for it; a spare that is never needed does not.
    this.loaded.catch(() => {});
    this.#worker.on('error', (error) => this.#end(error.message));
    this.#worker.on('exit', (code) => this.#end(`The thread ended (${code}).`));
    this.#worker.unref();
    port1.unref();
  }

  /** Number of the thread in this process. */
  get id(): number {
    return this.#worker.threadId;
  }

  /** Key of the actor whose step it computes, or was computing when it ended. */
  get computing(): string | undefined {
    return this.#mark.actor;
  }

  /** Why it is gone; undefined while it lives. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** Makes it the home of a shard. `lost` is told once, when it ends without having been closed. */
  async begin(
    setup: ShardSetup,
    log: Log,
    answered: (answers: readonly ShardAnswer[]) => void,
    lost: (why: string) => void,
  ): Promise<void> {
    this.#tell = lost;
    const begun = this.#api.begin(
      transfer(setup, [setup.store.port as unknown as ArrayBuffer]),
      proxy(answered),
      proxy((level: LogLevel, text: string, properties?: Parameters<Log['info']>[1]) =>
        log[level](text, properties),
      ),
    );
    await Promise.race([begun, this.#gone]);
  }

  /** Answered through the function given to `begin`. */
  take(calls: readonly ShardCall[]): void {
    this.#api.take([...calls]).catch(() => {});
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
    this.#tell = () => {};
    this.#end('It was closed.');
    await this.#worker.terminate();
  }

  #end(why: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = why;
    this.#go(new Error(why));
    this.#port.close();
    this.#tell(why);
  }
}
