/** How often something can be done, by the processor's time and by the clock. */
import type { Cpu, Latency } from './bench.ts';
import { LatencyRecorder } from './latency.ts';

export interface Rate {
  /** Calls in a second of processor time of this process, as `openssl speed` counts: other programs do not matter. */
  readonly perCpuSecond: number;
  /** Calls in a second of the clock, waiting for disks and authorities included. */
  readonly perSecond: number;
  readonly latency: Latency;
  readonly cpu: Cpu;
}

/** What was done is put aside, unmeasured, after so many calls: verified and removed. */
export interface Slices {
  readonly calls: number;
  settle(): Promise<void>;
}

/** Share of the measured time that goes into warming up. */
const WARM_UP = 0.3;
/** Calls that are measured however long they take. */
const LEAST_CALLS = 3;
/** How many times as long by the clock the processor's time may take to come together. */
const PATIENCE = 5;
/** Milliseconds between two looks at how much was used, since each costs a microsecond. */
const LOOK_EVERY = 2;
const ONE_SLICE: Slices = { calls: Number.POSITIVE_INFINITY, settle: async () => {} };

/**
 * Runs `work` after a warm-up, timing each call, for so many seconds of processor time: then a machine that others use
 * too gives as many calls, and as well compiled ones, as a quiet one. At most `PATIENCE` times as long by the clock.
 */
export async function measure(seconds: number, work: () => void, slices = ONE_SLICE): Promise<Rate> {
  const meter = new Meter();
  const loop = async (recorder: LatencyRecorder, until: number, least: number): Promise<void> => {
    meter.reset();
    const goesOn = () =>
      recorder.count < least || (meter.processor < until && meter.clock < until * PATIENCE);
    while (goesOn()) {
      let stop = meter.start();
      let looked = performance.now();
      for (let call = 0; call < slices.calls; call += 1) {
        const from = performance.now();
        work();
        const now = performance.now();
        recorder.record(now - from);
        if (now - looked < LOOK_EVERY) continue;
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
  await loop(recorder, seconds * 1000, LEAST_CALLS);
  return meter.rate(recorder);
}

/**
 * As `measure`, with several calls under way at once, since those who wait for an authority leave the core to others.
 * @param work is given the number of the call, from 0
 */
export async function measureWaiting(
  seconds: number,
  lanes: number,
  work: (call: number) => Promise<void>,
  slices = ONE_SLICE,
): Promise<Rate> {
  const meter = new Meter();
  let calls = 0;
  const loop = async (recorder: LatencyRecorder, until: number): Promise<void> => {
    const begun = meter.clock;
    do {
      const stop = meter.start();
      const end = performance.now() + until - (meter.clock - begun);
      let left = slices.calls;
      const lane = async (): Promise<void> => {
        do {
          left -= 1;
          const from = performance.now();
          await work(calls++);
          recorder.record(performance.now() - from);
        } while (left > 0 && performance.now() < end);
      };
      await Promise.all(Array.from({ length: lanes }, lane));
      stop();
      await slices.settle();
    } while (meter.clock - begun < until);
  };
  await loop(new LatencyRecorder(), WARM_UP * seconds * 1000);
  meter.reset();
  const recorder = new LatencyRecorder();
  await loop(recorder, seconds * 1000);
  return meter.rate(recorder);
}

/** Adds up what stretches of work cost. */
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

  /** @returns ends the stretch; once more does nothing */
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
