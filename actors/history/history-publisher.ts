/**
 * Publishes checkpoints of the history outside the store, so that tampering with the store is detectable: a time-stamp
 * over each checkpoint, and a webhook call with both. Failed ones are sent after a later interval.
 *
 * Source: docs/decisions/0053-tamper-evident-history.md.
 */

import { type ActorStore, type Clock, describeFailure, type Json, type Log } from '@sealwright/runtime';
import {
  CHECKPOINT,
  CHECKPOINTS_VIEW,
  type Checkpoint,
  checkpointHash,
  type HistorySealer,
  STAMPS_VIEW,
  UNSENT_VIEW,
} from '@sealwright/runtime/history';
import type { TimestampAuthority } from '@sealwright/signatures';
import type { HttpClient } from '@sealwright/signatures/http';

export interface HistoryPublisherOptions {
  readonly store: Pick<ActorStore, 'rows'>;
  readonly sealer: Pick<HistorySealer, 'changeRows'>;
  readonly client: HttpClient;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  /** `History:WebhookUrl`. */
  readonly webhookUrl?: string | undefined;
  /** Authority of `History:TimestampUrl`. */
  readonly timestamps?: TimestampAuthority | undefined;
}

/** Checkpoints sent in one round. */
const BATCH_SIZE = 32;
const TIMEOUT_MS = 10_000;

export class HistoryPublisher {
  #underWay: Promise<void> | undefined;
  /** With the sealer and an address that may hold a secret: not among the fields that are printed. */
  readonly #options: HistoryPublisherOptions;

  constructor(options: HistoryPublisherOptions) {
    this.#options = options;
  }

  /** Sends unsent checkpoints, oldest first, up to the first failure. Never rejects. */
  publish(): Promise<void> {
    this.#underWay ??= this.#publishAll()
      .catch((error: unknown) =>
        this.#options.log.warn('A checkpoint of the history could not be sent; it is sent again later.', {
          ...describeFailure(error),
        }),
      )
      .finally(() => {
        this.#underWay = undefined;
      });
    return this.#underWay;
  }

  async #publishAll(): Promise<void> {
    const { store, sealer } = this.#options;
    for (const { key } of await store.rows({ view: UNSENT_VIEW, limit: BATCH_SIZE })) {
      const [row] = await store.rows({ view: CHECKPOINTS_VIEW, prefix: key, limit: 1 });
      const checkpoint = row && CHECKPOINT.read(row.value);
      if (checkpoint !== undefined) await this.#send(checkpoint, await this.#stamp(checkpoint));
      await sealer.changeRows({ put: [], remove: [{ view: UNSENT_VIEW, key }] });
    }
  }

  /** Returns the time-stamp token over the checkpoint's hash as Base64 DER; null without an authority. */
  async #stamp(checkpoint: Checkpoint): Promise<string | null> {
    const { store, sealer, timestamps } = this.#options;
    if (timestamps === undefined) return null;
    const key = [checkpoint.node, checkpoint.sequence];
    const [kept] = await store.rows({ view: STAMPS_VIEW, prefix: key, limit: 1 });
    if (kept !== undefined) return String(kept.value);
    const token = await timestamps.stamp(Buffer.from(checkpointHash(checkpoint), 'hex'), 'sha256');
    const value: Json = token.toString('base64');
    await sealer.changeRows({ put: [{ view: STAMPS_VIEW, key, value }], remove: [] });
    return value;
  }

  async #send(checkpoint: Checkpoint, timestamp: string | null): Promise<void> {
    const { client, clock, webhookUrl } = this.#options;
    if (webhookUrl === undefined) return;
    const late = new AbortController();
    const cancel = clock.after(TIMEOUT_MS, () => late.abort(new Error('no answer in time')));
    try {
      const response = await client.send({
        url: new URL(webhookUrl),
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ type: 'HistoryCheckpoint', checkpoint, timestamp })),
        policy: 'any',
        repeatable: true,
        signal: late.signal,
      });
      response.destroy();
      const status = response.statusCode ?? 0;
      if (status < 200 || status >= 300) throw new Error(`The webhook answered with HTTP status ${status}.`);
    } finally {
      cancel();
    }
  }
}
