/**
 * The log of sessions of users, a part of the history of the organization.
 *
 * Source: docs/decisions/0053-tamper-evident-history.md.
 */
import type { JournalLine } from '@sealwright/runtime';
import type { SignInEntry } from '../../../contracts/portal/users.ts';
import type { OrganizationId } from '../../../machines/ids.ts';
import type { UserContext } from '../../../machines/portal/accounts/portal-user.ts';
import { END_NOTES, openSessions } from '../../../machines/portal/accounts/session-ends.ts';
import type { SessionOrigin } from '../../../machines/portal/accounts/sessions.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { RequestOrigin } from '../api/callers.ts';
import { ORGANIZATION } from './organizations.ts';

const MAX_USER_AGENT = 200;

type Runtime = Pick<ServiceRuntime, 'actors' | 'clock'>;
type Action = SignInEntry['action'];

/** Stored form of the origin of a request. */
export function sessionOrigin(at: number, origin: RequestOrigin | undefined): SessionOrigin {
  return {
    at,
    ipAddress: origin?.ipAddress || null,
    userAgent: origin?.userAgent.slice(0, MAX_USER_AGENT) || null,
  };
}

/** Writes a line of the log. @param by who ended sessions, if not the user */
export async function recordSession(
  { actors }: Pick<Runtime, 'actors'>,
  organizationId: OrganizationId,
  entry: {
    readonly action: Action;
    readonly userId: string;
    /** Null: all sessions. */
    readonly sessionId: string | null;
    readonly origin?: SessionOrigin | undefined;
    readonly by?: string | undefined;
  },
): Promise<void> {
  const { action, userId, sessionId, origin, by } = entry;
  const data = {
    action,
    userId,
    sessionId,
    ipAddress: origin?.ipAddress ?? null,
    userAgent: origin?.userAgent ?? null,
  };
  const note = `${NOTES[action]} User ${userId}.`;
  await actors.send(ORGANIZATION, organizationId, { type: 'RECORD', note, data, by });
}

const NOTES: Readonly<Record<Action, string>> = {
  SignedIn: 'Signed in.',
  ...END_NOTES,
  FactorAdded: 'Authenticator app set up.',
  FactorRemoved: 'Authenticator app removed.',
  PasskeyAdded: 'Passkey added.',
  PasskeyRemoved: 'Passkey removed.',
  FactorReset: 'Second factor reset.',
  FactorFailed: 'Wrong code of the second factor.',
  RecoveryCodesRenewed: 'Recovery codes renewed.',
  RecoveryCodeUsed: 'Recovery code used.',
};

/**
 * Logs the end of the sessions of a person who is about to be removed: the step that ends an actor can store no message.
 * @param by who asked for it
 */
export async function recordRemoval(
  { actors, clock }: Runtime,
  userId: string,
  user: Pick<UserContext, 'sessions'>,
  by: string | undefined,
): Promise<void> {
  const organizations = new Set(openSessions(user, clock.now()).map(({ organizationId }) => organizationId));
  for (const organizationId of organizations)
    await recordSession({ actors }, organizationId, {
      action: 'SessionsEnded',
      userId,
      sessionId: null,
      by: by ?? 'the service',
    });
}

export function entryOf({ id, at, data, hash, message }: JournalLine): SignInEntry | undefined {
  const action = Object.keys(NOTES).find((one) => one === data?.['action']);
  if (data === undefined || action === undefined) return undefined;
  const text = (name: string) => (typeof data[name] === 'string' ? data[name] : null);
  return {
    id,
    date: at,
    action: action as Action,
    message,
    hash: hash ?? null,
    userId: text('userId') ?? '',
    sessionId: text('sessionId'),
    ipAddress: text('ipAddress'),
    userAgent: text('userAgent'),
  };
}
