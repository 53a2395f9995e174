/** Latency histogram with bounded memory and three significant digits. */
import { createHistogram } from 'node:perf_hooks';
import type { Latency } from './bench.ts';

const NANOS = 1e6;
/** Maximum of one hour, in nanoseconds; longer times count as this. */
const MAX_LENGTH = 3_600_000 * NANOS;

export class LatencyRecorder {
  readonly #histogram = createHistogram({ lowest: 1, highest: MAX_LENGTH, figures: 3 });

  /** @param millis at least 0 */
  record(millis: number): void {
    this.#histogram.record(Math.min(MAX_LENGTH, Math.max(1, Math.round(millis * NANOS))));
  }

  get count(): number {
    return this.#histogram.count;
  }

  latency(): Latency {
    const at = (percent: number) => (this.count === 0 ? 0 : this.#histogram.percentile(percent) / NANOS);
    return {
      count: this.count,
      p50: at(50),
      p90: at(90),
      p99: at(99),
      p999: at(99.9),
      longest: this.count === 0 ? 0 : this.#histogram.max / NANOS,
    };
  }
}
