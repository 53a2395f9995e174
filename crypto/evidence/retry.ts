import { CryptoError } from '../core/types.ts';

export interface RetrySettings {
  /** Attempts after the first. */
  readonly retries: number;
  /** Resolves after that many milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
}

/** First and longest pause between attempts, milliseconds; each one doubles the last. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5_000;

/** Retries while an authority is unreachable; a refusal is final, since a retry would give the same result. */
export async function withRetries<T>(settings: RetrySettings, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const passing = error instanceof CryptoError && error.code === 'authority.unreachable';
      if (!passing || tries >= settings.retries) throw error;
      await settings.wait(Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** tries));
    }
  }
}
