/**
 * Answers of identity providers that have signed somebody in: each counts once, on all nodes and after a restart. An
 * actor each, until nothing accepts the answer any longer.
 *
 * Source: SAML 2.0 Profiles §4.1.4.5; docs/decisions/0286-saml.md.
 */
import { hash } from 'node:crypto';
import { actorKind, defineActor, durableIfAccepted } from '@sealwright/runtime';
import type { EndedSession, endedSessionMachine } from '../../../machines/batch/ended-session.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { expiring } from './ended-sessions.ts';

const USED_ANSWER = actorKind<typeof endedSessionMachine>('used-answer');

export const usedAnswerDefinition = defineActor(USED_ANSWER, expiring);

/** An assertion, its cookie and its sign-in count for less than 30 minutes together. */
const KEPT_MS = 1_800_000;

export class UsedAnswers {
  constructor(private readonly runtime: Pick<ServiceRuntime, 'system' | 'clock'>) {}

  /** False: it was used before. Durable when it resolves. @param id unique among the answers of all providers */
  async use(id: string): Promise<boolean> {
    const { system, clock } = this.runtime;
    const endedAt = clock.now();
    const address = { kind: USED_ANSWER, id: hash('sha256', id, 'base64url') };
    const made = system.create(address, { endedAt, until: endedAt + KEPT_MS } satisfies EndedSession);
    return (await durableIfAccepted(made)) !== undefined;
  }
}
