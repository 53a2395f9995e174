/** Rates of operations by processor time and by wall-clock time. */
import type { Cpu, Latency } from './bench.ts';
import { LatencyRecorder } from './latency.ts';

export interface Rate {
  /** Calls per second of processor time of this process, as in `openssl speed`: independent of other programs. */
  readonly perCpuSecond: number;
  /** Calls per second of wall-clock time, waiting for disks and authorities included. */
  readonly perSecond: number;
  readonly latency: Latency;
  readonly cpu: Cpu;
}

/** Returns the element in the middle of the order by `value`; of an even number the later one. */
export function middle<Element>(elements: readonly Element[], value: (element: Element) => number): Element {
  const found = [...elements].sort((one, other) => value(one) - value(other))[elements.length >> 1];
  if (found === undefined) throw new Error('Nothing was measured.');
  return found;
}

export const rateOf = ({ perSecond }: { perSecond: number }): number => perSecond;

/** Unmeasured processing of the results after that many calls: verification and removal. */
export interface Slices {
  readonly calls: number;
  settle(): Promise<void>;
}

/** Share of the measured time used for warm-up. */
const WARM_UP = 0.3;
/** Minimum of measured calls. */
const MIN_CALLS = 3;
/** Maximum ratio of wall-clock time to processor time. */
const TIMEOUT_MS = 5;
/** Milliseconds between two samples of processor time, since each takes a microsecond. */
const CHECK_INTERVAL_MS = 2;
const ONE_SLICE: Slices = { calls: Number.POSITIVE_INFINITY, settle: async () => {} };

/**
 * Runs `work` after a warm-up and times each call, for that many seconds of processor time: the number of calls, and
 * their compilation, then do not depend on other load. Ends after `TIMEOUT_MS` times as long by the wall clock.
 */
export async function measure(seconds: number, work: () => void, slices = ONE_SLICE): Promise<Rate> {
  const meter = new Meter();
  const loop = async (recorder: LatencyRecorder, until: number, least: number): Promise<void> => {
    meter.reset();
    const goesOn = () =>
      recorder.count < least || (meter.processor < until && meter.clock < until * TIMEOUT_MS);
    while (goesOn()) {
      let stop = meter.start();
      let looked = performance.now();
      for (let call = 0; call < slices.calls; call += 1) {
        const from = performance.now();
        work();
        const now = performance.now();
        recorder.record(now - from);
        if (now - looked < CHECK_INTERVAL_MS) continue;
        looked = now;
        stop();
        if (!goesOn()) break;
        stop = meter.start();
      }
      stop();
      await slices.settle();
    }
  };
  await loop(new LatencyRecorder(), WARM_UP * seconds * 1000, 1);
  const recorder = new LatencyRecorder();
  await loop(recorder, seconds * 1000, MIN_CALLS);
  return meter.rate(recorder);
}

/**
 * Measures as `measure` does, with several concurrent calls, for work that waits for an authority.
 * @param work receives the number of the call, from 0
 */
export async function measureWaiting(
  seconds: number,
  concurrency: number,
  work: (call: number) => Promise<void>,
  slices = ONE_SLICE,
): Promise<Rate> {
  const meter = new Meter();
  let calls = 0;
  const loop = async (recorder: LatencyRecorder, until: number): Promise<void> => {
    const startedAt = meter.clock;
    do {
      const stop = meter.start();
      const end = performance.now() + until - (meter.clock - startedAt);
      let left = slices.calls;
      const worker = async (): Promise<void> => {
        do {
          left -= 1;
          const from = performance.now();
          await work(calls++);
          recorder.record(performance.now() - from);
        } while (left > 0 && performance.now() < end);
      };
      await Promise.all(Array.from({ length: concurrency }, worker));
      stop();
      await slices.settle();
    } while (meter.clock - startedAt < until);
  };
  await loop(new LatencyRecorder(), WARM_UP * seconds * 1000);
  meter.reset();
  const recorder = new LatencyRecorder();
  await loop(recorder, seconds * 1000);
  return meter.rate(recorder);
}

/** Sums the cost of measured sections. */
class Meter {
  /** Milliseconds. */
  clock = 0;
  #user = 0;
  #system = 0;

  reset(): void {
    this.clock = 0;
    this.#user = 0;
    this.#system = 0;
  }

  /** Milliseconds. */
  get processor(): number {
    return this.#user + this.#system;
  }

  /** @returns a function that ends the section; repeated calls have no effect */
  start(): () => void {
    const cpu = process.cpuUsage();
    const from = performance.now();
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.clock += performance.now() - from;
      const { user, system } = process.cpuUsage(cpu);
      this.#user += user / 1000;
      this.#system += system / 1000;
    };
  }

  rate(recorder: LatencyRecorder): Rate {
    const { count } = recorder;
    return {
      perCpuSecond: (count / this.processor) * 1000,
      perSecond: (count / this.clock) * 1000,
      latency: recorder.latency(),
      cpu: { user: this.#user / count, system: this.#system / count },
    };
  }
}
