/**
 * Answers that several pages share. All open pages learn of a change at the same time (`GET /api/changes`, `every`) and
 * then ask with its version; the first request reads the state, the others receive the same body.
 *
 * Source: docs/decisions/0151-shared-answers-for-pages.md.
 */

import type { Clock, Millis } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import type { Batch } from '../../actors/index.ts';
import { type JsonReply, json } from '../core/reply.ts';

/** Lifetime of an answer: rates and queue lengths change without a step, too. */
const LIFETIME_MS: Millis = 10_000;
const MAX_ANSWERS = 100;
const MAX_CHARACTERS = 4_000_000;

interface Read {
  /** Version of the service before the read. */
  readonly version: string;
  readonly at: Millis;
}

interface Answer extends Read {
  readonly reply: JsonReply & { readonly text: string };
}

interface Reading extends Read {
  readonly reply: Promise<JsonReply>;
}

export class SharedAnswers {
  readonly #answers = new LRUCache<string, Answer>({
    max: MAX_ANSWERS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ reply }) => reply.text.length,
  });
  /** Reads in progress, by what they answer. */
  readonly #reading = new Map<string, Reading>();

  constructor(
    private readonly changes: Pick<Batch['inspection']['changes'], 'version' | 'includes'>,
    private readonly clock: Pick<Clock, 'elapsed'>,
  ) {}

  /**
   * Answers with status 200.
   * @param asked version that the answer must include; undefined: reads now
   * @param name of what is read: path and parameters
   */
  async answer(
    asked: string | undefined,
    name: readonly unknown[],
    read: () => Promise<unknown>,
  ): Promise<JsonReply> {
    if (asked === undefined) return json(200, await read());
    const key = JSON.stringify(name);
    const known = [this.#answers.get(key), this.#reading.get(key)].find(
      (one) =>
        one !== undefined &&
        this.clock.elapsed() - one.at < LIFETIME_MS &&
        this.changes.includes(one.version, asked),
    );
    if (known !== undefined) return known.reply;
    const { version } = this.changes;
    const at = this.clock.elapsed();
    const reading = { version, at, reply: this.#read(key, { version, at }, read) };
    this.#reading.set(key, reading);
    try {
      return await reading.reply;
    } finally {
      if (this.#reading.get(key) === reading) this.#reading.delete(key);
    }
  }

  async #read(key: string, { version, at }: Read, read: () => Promise<unknown>): Promise<JsonReply> {
    const body = await read();
    const reply = { ...json(200, body), text: JSON.stringify(body) };
    this.#answers.set(key, { version, at, reply });
    return reply;
  }
}
