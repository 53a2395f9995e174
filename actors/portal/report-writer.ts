/** Writes a spreadsheet on a thread of its own; lines are handed over at the pace at which they are written. */
import { Worker } from 'node:worker_threads';
import { Fatal } from '../../runtime/index.ts';
import type { FromReportWorker, ReportLine, ReportWorkerSetup, ToReportWorker } from './report-wire.ts';

/** Memory of the thread, MiB; more ends it and fails the report, not the service. */
const HEAP_MIB = 256;

export class ReportWriter {
  readonly #worker: Worker;
  /** Who waits for the worker's next word. */
  #waiting: { resolve(): void; reject(error: unknown): void } | undefined;
  #failure: Fatal | undefined;

  /** @param path must not exist; its folder must */
  constructor(path: string) {
    this.#worker = new Worker(new URL('./report-worker.js', import.meta.url), {
      workerData: { path } satisfies ReportWorkerSetup,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    this.#worker.on('message', (message: FromReportWorker) => {
      if (message.type === 'failed') this.#fail(message.message);
      else this.#take()?.resolve();
    });
    this.#worker.on('error', (error) => this.#fail(error.message));
    this.#worker.on('exit', (code) => this.#fail(`The thread ended with ${code}.`));
  }

  /** Resolves when more may come. */
  write(lines: readonly ReportLine[]): Promise<void> {
    return this.#ask({ type: 'lines', lines });
  }

  /** Resolves when the file is complete; it is not synced. */
  async end(): Promise<void> {
    await this.#ask({ type: 'end' });
    await this.close();
  }

  /** Ends the thread, whatever it does. */
  async close(): Promise<void> {
    this.#failure ??= new Fatal('report.closed', 'The report is closed.');
    await this.#worker.terminate();
  }

  #ask(message: ToReportWorker): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      this.#waiting = { resolve, reject };
      this.#worker.postMessage(message);
    });
  }

  #take() {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }

  #fail(message: string): void {
    this.#failure ??= new Fatal('report.failed', `The report could not be written: ${message}`);
    this.#take()?.reject(this.#failure);
  }
}
