/**
 * Clients' own words for uploads. The job itself holds the word as a unique name, in the same commit that makes it: of
 * two uploads at once one makes the job and the other finds it, and no crash comes between the two. A word that has
 * expired is forgotten when it is next asked for, so that no timer is kept per upload.
 *
 * Source: batch-gaps §15, "Idempotent upload".
 */
import { createHash } from 'node:crypto';
import type { Millis } from '../machines/ids.ts';
import type { JobContext } from '../machines/job-context.ts';
import type { ActorStore, ActorSystem, ActorView, Clock } from '../runtime/index.ts';
import type { UploadKey } from './api.ts';
import { uploadKeyName } from './registry.ts';

/** How long the same word gives the same job, milliseconds. */
const UPLOAD_KEY_LIFETIME = 24 * 3_600_000;

/** What the job remembers of the word; the caller is part of it, so that nobody meets another's. */
export function uploadKeyText({ caller, key }: UploadKey): string {
  return createHash('sha256')
    .update(JSON.stringify([caller, key]))
    .digest('base64url');
}

/** True while the job still answers for its word. */
export function holdsUploadKey({ uploadKey, createdAt }: JobContext, now: Millis): boolean {
  return typeof uploadKey === 'string' && now - createdAt < UPLOAD_KEY_LIFETIME;
}

export interface UploadKeysParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly clock: Pick<Clock, 'now'>;
}

export class UploadKeys {
  readonly #parts: UploadKeysParts;

  constructor(parts: UploadKeysParts) {
    this.#parts = parts;
  }

  /** The job that answers for the word, durable; undefined when the word is free, which it then is. */
  async find(text: string): Promise<ActorView | undefined> {
    const { system, store, clock } = this.#parts;
    const holder = await store.holder(uploadKeyName(text));
    if (holder === undefined) return undefined;
    const job = await system.read(holder);
    if (job === undefined) return undefined;
    if (holdsUploadKey(job.context as JobContext, clock.now())) {
      await store.flushed();
      return job;
    }
    await system.tell(holder, { type: 'FORGET_KEY' });
    return undefined;
  }
}
