/**
 * Lines of the log of sessions about their end. The step that ends sessions stores them as messages to the organizations,
 * whose histories have the log, so a crash loses none.
 *
 * Source: docs/decisions/0053-tamper-evident-history.md.
 */

import type { TellParams } from '@sealwright/runtime/actions';
import type { Millis, OrganizationId } from '../../ids.ts';
import { idOfSession, type SessionOrigin, type UserSession } from './sessions.ts';

export const END_NOTES = { SignedOut: 'Signed out.', SessionsEnded: 'Sessions ended.' } as const;

/** Of messages that may end sessions. */
export interface EndsSessions {
  /** Id of the person: the machine does not know it. */
  readonly userId: string;
}

/** Members of messages that the lines need; see `UserMessage`. */
interface ChangeMessage extends Partial<EndsSessions> {
  readonly type: string;
  readonly at: Millis;
  readonly by?: string | undefined;
  readonly organizationId?: OrganizationId;
  readonly sessionId?: string;
  readonly origin?: SessionOrigin;
}

interface Holder {
  readonly sessions?: readonly UserSession[];
}

interface EndLine {
  readonly organizationId: OrganizationId;
  readonly userId: string;
  readonly action: keyof typeof END_NOTES;
  /** Null: all sessions. */
  readonly sessionId: string | null;
  readonly origin?: SessionOrigin | undefined;
  /** Absent: the person. */
  readonly by?: string | undefined;
}

/** A line for the log of an organization. */
type ToldLine = TellParams<{ readonly type: string }>;

function lineFor({ organizationId, userId, action, sessionId, origin, by }: EndLine): ToldLine {
  const data = {
    action,
    userId,
    sessionId,
    ipAddress: origin?.ipAddress ?? null,
    userAgent: origin?.userAgent ?? null,
  };
  const event = { type: 'RECORD', note: `${END_NOTES[action]} User ${userId}.`, data, by };
  return { id: organizationId, event };
}

/** Sessions that count. */
export function openSessions({ sessions = [] }: Holder, at: Millis): readonly UserSession[] {
  return sessions.filter(({ expiresAt, pending }) => expiresAt > at && pending !== true);
}

/** Lines of a change, by organization or by session. */
export function endLines(before: Holder, after: Holder, message: ChangeMessage): readonly ToldLine[] {
  const { type, userId, by, at, organizationId, sessionId = null, origin } = message;
  if (userId === undefined) return [];
  if (type === 'END_SESSIONS' && organizationId !== undefined)
    return [lineFor({ organizationId, userId, action: 'SessionsEnded', sessionId, origin, by })];
  const kept = new Set(openSessions(after, at).map(({ sha256 }) => sha256));
  const ended = openSessions(before, at).filter(({ sha256 }) => !kept.has(sha256));
  if (type === 'SIGN_OUT' || type === 'SIGN_OUT_AT_PROVIDER') {
    const said =
      type === 'SIGN_OUT' ? { action: 'SignedOut' as const } : { action: 'SessionsEnded' as const, by };
    return ended.map((one) =>
      lineFor({ organizationId: one.organizationId, userId, sessionId: idOfSession(one), ...said }),
    );
  }
  const stayed = openSessions(before, at).filter(({ sha256 }) => kept.has(sha256));
  const organizations = new Set(ended.map(({ organizationId }) => organizationId));
  return [...organizations].flatMap((organizationId) => {
    const isThere = (one: UserSession) => one.organizationId === organizationId;
    // A new session ends the oldest of too many alone.
    const ids = stayed.some(isThere) ? ended.filter(isThere).map(idOfSession) : [null];
    return ids.map((sessionId) =>
      lineFor({ organizationId, userId, action: 'SessionsEnded', sessionId, by: by ?? 'the service' }),
    );
  });
}
