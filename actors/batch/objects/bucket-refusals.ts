/** Refusals of a bucket in a row, by original. A refusal passes when a right was just given, so one alone does not count. */
import type { Fatal } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';

/** Originals whose refusals are counted. */
const MAX_COUNTED = 10_000;

export class BucketRefusals {
  readonly #inARow = new LRUCache<string, number>({ max: MAX_COUNTED });

  /** An outage or an answer begins the count anew. @param whenRefused of an error; undefined: it is no refusal */
  async upTo<Answer>(
    limit: number,
    originalPath: string,
    ask: () => Promise<Answer>,
    whenRefused: (error: unknown) => Fatal | undefined,
  ): Promise<Answer> {
    let refusals = 0;
    try {
      return await ask();
    } catch (error) {
      const fatal = whenRefused(error);
      if (fatal !== undefined) refusals = (this.#inARow.get(originalPath) ?? 0) + 1;
      if (fatal === undefined || refusals < limit) throw error;
      refusals = 0;
      throw fatal;
    } finally {
      if (refusals > 0) this.#inARow.set(originalPath, refusals);
      else this.#inARow.delete(originalPath);
    }
  }
}
