import { type Backoff, pauseAfter } from '../../base/backoff.ts';
import { CryptoError } from '../core/types.ts';

export interface RetrySettings {
  /** Attempts after the first. */
  readonly retries: number;
  /** Resolves after that many milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
}

/** Pauses between attempts. */
const BACKOFF: Backoff = { firstMs: 200, maxMs: 5_000 };

/** Retries while an authority is unreachable; a refusal is final, since a retry would give the same result. */
export async function withRetries<T>(settings: RetrySettings, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const passing = error instanceof CryptoError && error.code === 'authority.unreachable';
      if (!passing || tries >= settings.retries) throw error;
      await settings.wait(pauseAfter(tries + 1, BACKOFF));
    }
  }
}
