/**
 * Circuit breaker of one endpoint (Nygard, "Release It!"): opens after consecutive failures, then allows single probes
 * at increasing intervals until one succeeds. State is in memory only.
 *
 * Source: docs/batch-values.md §8, failure table, first row.
 */
import type { Clock, Millis } from '@sealwright/runtime';

/** Consecutive failures that open the circuit of the remote portal. */
const FAILURE_THRESHOLD = 5;
/** Pause before the first probe, milliseconds; doubled after each failed one. */
const FIRST_PROBE_MS = 1_000;
/** Longest pause between two probes, milliseconds, unless the endpoint requests a longer one. */
const MAX_PROBE_MS = 60_000;

export interface OpenCircuit {
  readonly since: Millis;
  /** Message of the last failure. */
  readonly reason: string;
}

export class CircuitBreaker {
  #failures = 0;
  #open: OpenCircuit | undefined;
  #probePause = FIRST_PROBE_MS;
  /** Pause requested by the endpoint at its last failure, milliseconds. */
  #retryAfter = 0;
  #cancelProbe: () => void = () => {};
  #stopped = false;
  readonly #closedListeners = new Set<() => void>();

  constructor(
    private readonly clock: Pick<Clock, 'now' | 'after'>,
    /** Makes one call without side effects; the caller reports its result. Never rejects. */
    private readonly probe: () => Promise<void>,
    /** Called when the circuit opens or closes. */
    private readonly onChange: (open: boolean) => void,
    /** Consecutive failures that open the circuit. */
    private readonly threshold = FAILURE_THRESHOLD,
  ) {}

  /** Undefined while the circuit is closed. */
  get open(): OpenCircuit | undefined {
    return this.#open;
  }

  /** Records a success. */
  succeeded(): void {
    this.#failures = 0;
    if (this.#open === undefined || this.#stopped) return;
    this.#open = undefined;
    this.#cancelProbe();
    this.onChange(false);
    for (const listener of [...this.#closedListeners]) listener();
  }

  /** Records a transient failure. @param retryAfter pause requested by the endpoint, milliseconds */
  failed(reason: string, retryAfter = 0): void {
    this.#failures += 1;
    this.#retryAfter = retryAfter;
    if (this.#open !== undefined) this.#open = { since: this.#open.since, reason };
    if (this.#open !== undefined || this.#failures < this.threshold || this.#stopped) return;
    this.#open = { since: this.clock.now(), reason };
    this.#probePause = FIRST_PROBE_MS;
    this.#scheduleProbe();
    this.onChange(true);
  }

  /** Resolves once the circuit is closed. @throws the signal's reason when it is aborted first */
  async untilClosed(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#open === undefined) return;
    await new Promise<void>((resolve, reject) => {
      const settle = (): void => {
        this.#closedListeners.delete(settle);
        signal.removeEventListener('abort', settle);
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      this.#closedListeners.add(settle);
      signal.addEventListener('abort', settle, { once: true });
    });
  }

  /** Stops probing; an open circuit stays open. */
  stop(): void {
    this.#stopped = true;
    this.#cancelProbe();
  }

  #scheduleProbe(): void {
    const pause = Math.max(this.#probePause, this.#retryAfter);
    this.#cancelProbe = this.clock.after(pause, () => void this.#probe());
  }

  async #probe(): Promise<void> {
    await this.probe();
    if (this.#open === undefined || this.#stopped) return;
    this.#probePause = Math.min(MAX_PROBE_MS, this.#probePause * 2);
    this.#scheduleProbe();
  }
}
