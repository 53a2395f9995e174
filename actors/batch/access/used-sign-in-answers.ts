/**
 * Answers of identity providers that have signed somebody in: each counts once, on all nodes and after a restart. An
 * actor each, until nothing accepts the answer any longer.
 *
 * Source: SAML 2.0 Profiles §4.1.4.5; docs/decisions/0286-saml.md.
 */
import { hash } from 'node:crypto';
import { defineActor } from '@sealwright/runtime';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { expiring } from './ended-sessions.ts';

export const USED_ANSWER = defineActor('used-answer', expiring);

/** An assertion, its cookie and its sign-in count for less than 30 minutes together. */
const RETENTION_MS = 1_800_000;

export class UsedSignInAnswers {
  constructor(private readonly runtime: Pick<ServiceRuntime, 'actors' | 'clock'>) {}

  /** False: it was used before. Durable when it resolves. @param id unique among the answers of all providers */
  async use(id: string): Promise<boolean> {
    const { actors, clock } = this.runtime;
    const endedAt = clock.now();
    const until = endedAt + RETENTION_MS;
    const used = await actors.create(USED_ANSWER, hash('sha256', id, 'base64url'), { endedAt, until });
    return used.accepted;
  }
}
