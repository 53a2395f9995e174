/**
 * What counts no longer, kept until it would expire anyway: a session of an operator that was ended, all sessions of a person
 * up to a time, or the answer of a provider that was used.
 *
 * | from  | message          | to      | effects |                                |
 * |-------|------------------|---------|---------|--------------------------------|
 * | Ended | after `validFor` | Expired |         | not stored: the actor ends     |
 *
 * Source: docs/decisions/0009-sessions-and-callers.md.
 */
import { setup } from 'xstate';
import type { Millis } from '../ids.ts';

export const SESSION_EXPIRED = 'Expired';

interface EndedSession {
  readonly endedAt: Millis;
  /** Expiry of its tokens, or of the answer. */
  readonly until: Millis;
}

export const endedSessionMachine = setup({
  types: {
    context: {} as EndedSession,
    input: {} as EndedSession,
    events: {} as { readonly type: 'NOTHING'; readonly at: Millis },
  },
  delays: { validFor: ({ context: { endedAt, until } }) => Math.max(0, until - endedAt) },
}).createMachine({
  id: 'ended-session',
  context: ({ input }) => input,
  initial: 'Ended',
  states: {
    Ended: { after: { validFor: SESSION_EXPIRED } },
    [SESSION_EXPIRED]: {},
  },
});
