/** Observation of a program under overload: health, metrics and resource use. */
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { BenchContext, Spent } from '../frame/bench.ts';
import { LatencyRecorder } from '../frame/latency.ts';
import { Client, getRequest } from '../http/client.ts';
import type { Program } from '../program.ts';

/** Milliseconds between samples of memory, health and metrics. */
const CHECK_INTERVAL_MS = 100;

/** Starts measuring processor use; the returned function gives it in percent of one processor. */
export function processorShares(program: Program, { clock }: BenchContext) {
  const begun = clock.elapsed();
  const before = program.spent();
  const own = process.cpuUsage();
  return (): { readonly service: number; readonly client: number } => {
    const millis = clock.elapsed() - begun;
    const after = program.spent();
    const mine = process.cpuUsage(own);
    const used = (spent: Spent | undefined) => (spent ? spent.user + spent.system : Number.NaN);
    return {
      service: ((used(after) - used(before)) / millis) * 100,
      client: ((mine.user + mine.system) / 1000 / millis) * 100,
    };
  };
}

/** Samples the program during overload. */
export class Watch {
  readonly #program: Program;
  readonly #health = new LatencyRecorder();
  readonly #metrics = new LatencyRecorder();
  readonly #resident: number[] = [];
  readonly #anonymous: number[] = [];
  readonly #done: Promise<void>;
  #ended = false;

  constructor(program: Program, url: string) {
    this.#program = program;
    this.#done = this.#look(url);
    // Reported by `end`.
    this.#done.catch(() => undefined);
  }

  async #look(url: string): Promise<void> {
    const [health, metrics] = await Promise.all([
      Client.open(url, 1, 200),
      Client.open(this.#program.batch, 1, 200),
    ]);
    const healthRequest = getRequest('/api/health', {});
    const metricsRequest = getRequest('/api/metrics', {});
    try {
      while (!this.#ended) {
        let from = performance.now();
        if ((await health.ask(healthRequest)) === 'refused') throw new Error('Health was refused.');
        this.#health.record(performance.now() - from);
        from = performance.now();
        if ((await metrics.ask(metricsRequest)) === 'refused') throw new Error('The metrics were refused.');
        this.#metrics.record(performance.now() - from);
        const { resident, anonymous } = memoryOf(this.#program.pid);
        this.#resident.push(resident);
        this.#anonymous.push(anonymous);
        await new Promise((resolve) => setTimeout(resolve, CHECK_INTERVAL_MS));
      }
    } finally {
      health.close();
      metrics.close();
    }
  }

  async end() {
    this.#ended = true;
    await this.#done;
    const { batch, batchKey } = this.#program;
    const answer = await fetch(`${batch}/api/runtime`, { headers: batchKey });
    const { eventLoopDelay } = (await answer.json()) as { eventLoopDelay: { p99Ms: number } };
    const resident = endAndMiddle(this.#resident);
    const anonymous = endAndMiddle(this.#anonymous);
    return {
      health: this.#health,
      metrics: this.#metrics,
      growth: (resident.end / resident.middle) * 100,
      anonymousGrowth: (anonymous.end / anonymous.middle) * 100,
      /** Means of the last fifth, bytes. */
      resident: resident.end,
      anonymous: anonymous.end,
      loop: eventLoopDelay.p99Ms,
    };
  }
}

/** Means of the last and of the middle fifth. */
function endAndMiddle(values: readonly number[]): { readonly end: number; readonly middle: number } {
  const mean = (some: readonly number[]) => some.reduce((sum, value) => sum + value, 0) / some.length;
  const { length } = values;
  return {
    end: mean(values.slice(Math.floor(length * 0.8))),
    middle: mean(values.slice(Math.floor(length * 0.4), Math.floor(length * 0.6) + 1)),
  };
}

/**
 * Resident memory of a process, and the part of it that no file backs: heaps, and not the mapped database, whose pages
 * the system may take back. Bytes; NaN where the system does not provide it.
 */
function memoryOf(pid: number | undefined): { readonly resident: number; readonly anonymous: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const [, resident] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? [];
    const [, anonymous] = /^RssAnon:\s+(\d+) kB/m.exec(status) ?? [];
    return { resident: Number(resident) * 1024, anonymous: Number(anonymous) * 1024 };
  } catch {
    return { resident: Number.NaN, anonymous: Number.NaN };
  }
}

const ANSWERED =
  /^(\S+) \[INF\] Request answered\. \{Method: "POST", Route: "([^"]+)", Status: (\d+), Ms: (\d+(?:\.\d+)?),/;

interface AnsweredRequests {
  /** Path of the route. */
  readonly route: string;
  readonly status: number;
  /** Wall-clock milliseconds: requests that began between them, both included. */
  readonly from: number;
  readonly until: number;
}

/** Reads the times from head to end of answer of the POST requests that match. @param folder of the log files */
export async function serviceTimes(folder: string, wanted: AnsweredRequests): Promise<LatencyRecorder> {
  const times = new LatencyRecorder();
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.log'))) {
    for await (const line of createInterface({ input: createReadStream(join(folder, name)) })) {
      const [, at = '', route, status, millis] = ANSWERED.exec(line) ?? [];
      if (route !== wanted.route || Number(status) !== wanted.status) continue;
      const began = Date.parse(at) - Number(millis);
      if (began >= wanted.from && began <= wanted.until) times.record(Number(millis));
    }
  }
  return times;
}
