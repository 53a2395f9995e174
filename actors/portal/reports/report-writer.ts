/** Writes a spreadsheet on its own thread, with backpressure: the caller waits while the thread has lines to write. */
import { Worker } from 'node:worker_threads';
import { Fatal } from '@sealwright/runtime';
import type { FromReportWorker, ReportLine, ReportWorkerSetup, ToReportWorker } from './report-wire.ts';

/** Memory of the thread, MiB; more ends it and fails the report, not the service. */
const HEAP_MIB = 256;

export class ReportWriter {
  readonly #worker: Worker;
  /** Callers that wait for the worker's next message. */
  #waiting: { resolve(): void; reject(error: unknown): void } | undefined;
  #failure: Fatal | undefined;

  /** @param path must not exist; its folder must */
  constructor(path: string) {
    this.#worker = new Worker(new URL('./report-worker.js', import.meta.url), {
      workerData: { path } satisfies ReportWorkerSetup,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    this.#worker.on('message', (message: FromReportWorker) => {
      if (message.type === 'failed') this.#onFailure(message.message);
      else this.#onReply()?.resolve();
    });
    this.#worker.on('error', (error) => this.#onFailure(error.message));
    this.#worker.on('exit', (code) => this.#onFailure(`The thread ended with ${code}.`));
  }

  /** Resolves when more may come. */
  write(lines: readonly ReportLine[]): Promise<void> {
    return this.#request({ type: 'lines', lines });
  }

  /** Resolves when the file is complete; it is not synced. */
  async end(): Promise<void> {
    await this.#request({ type: 'end' });
    await this.close();
  }

  /**
   * Ends the thread at once, also while it loads. Unlike a thread of the pool or of a shard,
   * it loads no native module, only exceljs, so ending it cannot abort the process.
   */
  async close(): Promise<void> {
    this.#failure ??= new Fatal('report.closed', 'The report is closed.');
    await this.#worker.terminate();
  }

  #request(message: ToReportWorker): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      this.#waiting = { resolve, reject };
      this.#worker.postMessage(message);
    });
  }

  #onReply() {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }

  #onFailure(message: string): void {
    this.#failure ??= new Fatal('report.failed', `The report could not be written: ${message}`);
    this.#onReply()?.reject(this.#failure);
  }
}
