/**
 * Requests that clients may send again under a word of their own: the first answer is stored, and given to whoever
 * asks again with the same request. Implements `IdempotentRequests`.
 *
 * A request is stored as begun before it is done. When the process dies before its answer is stored, the same request
 * is done again under the same seed, from which the ids derive of what it makes: it finds what it made the first time.
 */
import { createHash } from 'node:crypto';
import {
  type IdempotentRequestContext,
  idempotentRequestMachine,
  REQUEST_FORGOTTEN,
} from '../../machines/idempotent-request.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import {
  type ActorDefinition,
  type ActorStore,
  type ActorSystem,
  type Faults,
  type Ids,
  Retryable,
} from '../../runtime/index.ts';
import type { IdempotentRequests, RepeatableRequest, Tenant } from './api.ts';
import './request-faults.ts';

export const IDEMPOTENT_REQUEST = 'idempotent-request';

export const idempotentRequestDefinition: ActorDefinition = {
  kind: IDEMPOTENT_REQUEST,
  machine: idempotentRequestMachine,
  version: 1,
  ends: ({ state }) => state === REQUEST_FORGOTTEN,
};

export interface RepeatedRequestsParts {
  readonly system: ActorSystem;
  readonly store: Pick<ActorStore, 'flushed'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly faults: Faults;
}

export class RepeatedRequests implements IdempotentRequests {
  readonly #parts: RepeatedRequestsParts;
  /** Requests of this process that are being done, by actor. */
  readonly #underWay = new Map<string, { readonly fingerprint: string; readonly answer: Promise<unknown> }>();

  constructor(parts: RepeatedRequestsParts) {
    this.#parts = parts;
  }

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
    const { system, store, ids } = this.#parts;
    const address = { kind: IDEMPOTENT_REQUEST, id };
    const begun = await system.create(address, { fingerprint, seed: ids.uuid(), answer: null });
    if (begun.accepted) {
      await begun.durable;
      return this.#make(id, (begun.actor.context as IdempotentRequestContext).seed, make);
    }
    const known = await system.read(address);
    // It was forgotten in between; the client may send it again.
    if (known === undefined) throw new Retryable('request.forgotten', 'The request was just forgotten.');
    const context = known.context as IdempotentRequestContext;
    if (context.fingerprint !== fingerprint) throw conflict();
    if (context.answer === null) return this.#make(id, context.seed, make);
    await store.flushed();
    return JSON.parse(context.answer);
  }

  async #make(id: string, seed: string, make: (seed: string) => Promise<unknown>): Promise<unknown> {
    const { system, faults } = this.#parts;
    const address = { kind: IDEMPOTENT_REQUEST, id };
    let made: unknown;
    try {
      made = await make(seed);
    } catch (thrown) {
      // A refusal has changed nothing, so the word is free. After anything else it is open what was done.
      if ((thrown as Error).name === 'PortalRefusal') await system.tell(address, { type: 'FORGET' });
      throw thrown;
    }
    await faults.at('portal.request.done');
    const told = await system.tell(address, { type: 'ANSWER', answer: JSON.stringify(made) });
    if (told.accepted) await told.durable;
    return made;
  }
}

/** One word of one application for one route. */
function actorId({ organization, application }: Tenant, { route, key }: RepeatableRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([organization.id, application.id, route, key]))
    .digest('base64url');
}

function conflict(): PortalRefusal {
  return new PortalRefusal('IdempotencyConflict');
}
