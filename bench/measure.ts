/** How often something can be done, by the processor's time and by the clock. */
import { spawnSync } from 'node:child_process';

export interface Figures {
  /** Calls in a second of processor time of this process, as `openssl speed` counts: other programs do not matter. */
  readonly perSecond: number;
  /** Calls in a second of the clock, waiting for disks and authorities included. */
  readonly perClockSecond: number;
  /** Milliseconds of the clock. */
  readonly p50: number;
  readonly p99: number;
}

/** Share of the measured time that goes into warming up. */
const WARM_UP = 0.3;
/** Calls that are measured however long they take. */
const LEAST_CALLS = 3;

/** Runs `work` for so many seconds after a warm-up, timing each call; of `after` only processor time counts. */
export function measure(seconds: number, work: () => void, after: () => void = () => {}): Figures {
  const warm = performance.now() + WARM_UP * seconds * 1000;
  do {
    work();
    after();
  } while (performance.now() < warm);
  const took: number[] = [];
  let busy = 0;
  const before = process.cpuUsage();
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end || took.length < LEAST_CALLS) {
    const from = performance.now();
    work();
    const duration = performance.now() - from;
    busy += duration;
    took.push(duration);
    after();
  }
  return figures(took, busy, process.cpuUsage(before));
}

/**
 * As `measure`, with several calls under way at once, since those who wait for an authority leave the core to others.
 * @param work is given the lane it runs in, from 0
 */
export async function measureWaiting(
  seconds: number,
  lanes: number,
  work: (lane: number) => Promise<void>,
): Promise<Figures> {
  const took: number[] = [];
  const run = async (end: number, times: number[]): Promise<void> => {
    const loop = async (lane: number): Promise<void> => {
      do {
        const from = performance.now();
        await work(lane);
        times.push(performance.now() - from);
      } while (performance.now() < end);
    };
    await Promise.all(Array.from({ length: lanes }, (_, lane) => loop(lane)));
  };
  await run(performance.now() + WARM_UP * seconds * 1000, []);
  const before = process.cpuUsage();
  const from = performance.now();
  await run(from + seconds * 1000, took);
  return figures(took, performance.now() - from, process.cpuUsage(before));
}

function figures(took: number[], busy: number, { user, system }: NodeJS.CpuUsage): Figures {
  took.sort((one, other) => one - other);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0;
  return {
    perSecond: took.length / ((user + system) / 1e6),
    perClockSecond: (took.length / busy) * 1000,
    p50: at(0.5),
    p99: at(0.99),
  };
}

/** Signatures a second on one core, by openssl itself; undefined without it. */
export function opensslSpeed(algorithm: 'rsa2048' | 'ecdsap256', seconds: number): number | undefined {
  const run = spawnSync('openssl', ['speed', '-seconds', String(Math.ceil(seconds)), algorithm], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  // The table's last line: …, seconds per signature, seconds per check, signatures a second, checks a second.
  const fields = run.stdout?.trim().split('\n').at(-1)?.trim().split(/\s+/) ?? [];
  const rate = Number(fields.at(-2));
  return Number.isFinite(rate) ? rate : undefined;
}
