import { CryptoError } from '../types.ts';

export interface RetrySettings {
  /** Further tries after the first. */
  readonly retries: number;
  /** Resolves after that many milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
}

/** First pause; each further one is twice as long, up to the longest. Milliseconds. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5_000;

/** Tries again while an authority can't be reached; a refusal would only be repeated, so it is final. */
export async function withRetries<T>(settings: RetrySettings, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const passing = error instanceof CryptoError && error.code === 'authority.unreachable';
      if (!passing || tries >= settings.retries) throw error;
      await settings.wait(Math.min(FIRST_PAUSE * 2 ** tries, LONGEST_PAUSE));
    }
  }
}
