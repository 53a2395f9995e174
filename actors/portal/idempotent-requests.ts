/**
 * Idempotency keys: the first answer to a request is stored and returned for each repetition of the request with the same
 * key. Implements `IdempotentRequests`.
 *
 * A request is stored before it is executed, with a seed from which the ids of the created actors are derived. When the
 * process ends before the answer is stored, a repetition uses the same seed and so finds the actors created before.
 */

import { createHash } from 'node:crypto';
import { defineActor, Retryable } from '@sealwright/runtime';
import { idempotentRequestMachine, REQUEST_EXPIRED } from '../../machines/portal/idempotent-request.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../hosting/service-plan.ts';
import type { IdempotentRequests, RepeatableRequest, Tenant } from './api/callers.ts';
import '../shared/failures/request-fault-points.ts';

export const IDEMPOTENT_REQUEST = defineActor('idempotent-request', {
  machine: idempotentRequestMachine,
  version: 1,
  ends: ({ state }) => state === REQUEST_EXPIRED,
});

export class IdempotentRequestService implements IdempotentRequests {
  /** Requests of this process that are being done, by actor. */
  readonly #underWay = new Map<string, { readonly fingerprint: string; readonly answer: Promise<unknown> }>();

  constructor(private readonly runtime: Omit<ServiceRuntime, 'clock' | 'log'>) {}

  async answer<Answer>(
    tenant: Tenant,
    request: RepeatableRequest,
    make: (seed: string) => Promise<Answer>,
  ): Promise<Answer> {
    const id = actorId(tenant, request);
    const { fingerprint } = request;
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined) {
      if (underWay.fingerprint !== fingerprint) throw conflict();
      return (await underWay.answer) as Answer;
    }
    const answer = this.#find(id, fingerprint, make);
    this.#underWay.set(id, { fingerprint, answer });
    try {
      return (await answer) as Answer;
    } finally {
      this.#underWay.delete(id);
    }
  }

  async #find(id: string, fingerprint: string, make: (seed: string) => Promise<unknown>): Promise<unknown> {
    const { actors, store, ids } = this.runtime;
    const created = await actors.create(IDEMPOTENT_REQUEST, id, {
      fingerprint,
      seed: ids.uuid(),
      answer: null,
    });
    if (created.accepted) return this.#create(id, created.context.seed, make);
    const existing = await actors.read(IDEMPOTENT_REQUEST, id);
    // It was forgotten in between; the client may send it again.
    if (existing === undefined) throw new Retryable('request.forgotten', 'The request was just forgotten.');
    const context = existing.context;
    if (context.fingerprint !== fingerprint) throw conflict();
    if (context.answer === null) return this.#create(id, context.seed, make);
    await store.flushed();
    return JSON.parse(context.answer);
  }

  async #create(id: string, seed: string, make: (seed: string) => Promise<unknown>): Promise<unknown> {
    const { actors, faults } = this.runtime;
    let made: unknown;
    try {
      made = await make(seed);
    } catch (thrown) {
      // A refusal has changed nothing, so the word is free. After anything else it is open what was done.
      if ((thrown as Error).name === 'PortalRefusal')
        await actors.send(IDEMPOTENT_REQUEST, id, { type: 'FORGET' });
      throw thrown;
    }
    await faults.at('portal.request.done');
    await actors.send(IDEMPOTENT_REQUEST, id, { type: 'ANSWER', answer: JSON.stringify(made) });
    return made;
  }
}

/** One word of one application for one route. */
function actorId({ organization, application, folders }: Tenant, { route, key }: RepeatableRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([organization.id, application.id, route, key, ...(folders ? [folders] : [])]))
    .digest('base64url');
}

function conflict(): PortalRefusal {
  return new PortalRefusal('IdempotencyConflict');
}
