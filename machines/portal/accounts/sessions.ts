/** Links that sign in, and the sessions that they begin. Source: docs/decisions/0135-users-sign-in-by-mail.md; docs/identity.md. */
import type { Millis, OrganizationId } from '../../ids.ts';
import type { SecondFactor } from './second-factor.ts';

/** Lifetime of a link that signs in, milliseconds. */
export const SIGN_IN_LIFETIME_MS = 15 * 60_000;
/** Links that were mailed to one person and can still be used. */
export const MAX_SIGN_IN_LINKS = 3;
/** Sessions of one person; a new one ends the oldest. */
const MAX_USER_SESSIONS = 10;
/** Sessions of one person that wait for the second factor; they end no whole one. */
const MAX_PENDING = 3;
/** Time for the second factor, milliseconds. */
export const PENDING_LIFETIME_MS = 15 * 60_000;

/** Time between two records of the use of a session, milliseconds. */
const USED_EVERY_MS = 10 * 60_000;

/** A link that signs in once. */
export interface SignInLink {
  readonly id: string;
  readonly expiresAt: Millis;
  /**
   * `confirm`: the link proves the address to the browser that has just signed in at a provider, and does nothing in
   * others. `recovery`: made on the command line; it works where mailed links are closed. @default a mailed link
   */
  readonly use?: 'confirm' | 'recovery';
  /** Id of the passkey that made it: the link needs no second factor while the user has it. */
  readonly passkey?: string;
  /** To which it signs in. Absent: all. */
  readonly organizations?: readonly OrganizationId[];
}

export function mayEnterBy({ organizations }: SignInLink, organization: OrganizationId): boolean {
  return organizations?.includes(organization) ?? true;
}

/** A person at an identity provider. The address there is not part of it: it can be given to somebody else. */
export interface UserIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** Place and time at which a session began. */
export interface SessionOrigin {
  readonly at: Millis;
  readonly ipAddress: string | null;
  /** `User-Agent`, shortened. */
  readonly userAgent: string | null;
}

export interface UserSession {
  /** Absent in sessions of earlier versions. */
  readonly begun?: SessionOrigin;
  /** Of a request, at most `USED_EVERY_MS` before the last one. Absent: none since that time. */
  readonly usedAt?: Millis;
  /** Present: the session began at a provider. */
  readonly at?: UserIdentity & {
    /** Id of the session there. */
    readonly session?: string;
    /** Time at which the provider authenticated the person. Absent: it did not say; a session open there proves nobody. */
    readonly provenAt?: Millis;
  };
  /** Of the secret in the cookie, lower-case hex. */
  readonly sha256: string;
  readonly organizationId: OrganizationId;
  readonly expiresAt: Millis;
  /** The second factor is missing, or must be set up first: nothing else is permitted. */
  readonly pending?: true;
  /** The second factor was passed in it. */
  readonly factor?: true;
  /** It began by a passkey that signs in to these alone, and so do the passkeys that are added in it. Absent: all. */
  readonly within?: readonly OrganizationId[];
  /** Time at which the person was last proven: by the second factor, or without one by the sign-in. Absent = not in it. */
  readonly provenAt?: Millis;
}

/** Names a session in lists; no secret follows from it. */
export function idOfSession({ sha256 }: Pick<UserSession, 'sha256'>): string {
  return sha256.slice(0, 16);
}

/** True when the use of a session is to be recorded. */
export function isUnseen({ usedAt, begun }: UserSession, now: Millis): boolean {
  return now - (usedAt ?? begun?.at ?? 0) >= USED_EVERY_MS;
}

/** A session that began without the second factor which is needed now. Providers have their own. */
export function needsFactor(
  session: UserSession,
  user: { readonly secondFactor?: SecondFactor | undefined },
  isRequired: boolean,
): boolean {
  if (session.pending === true) return true;
  const isOwed = isRequired || user.secondFactor !== undefined;
  return isOwed && session.factor !== true && session.at === undefined;
}

/** Organizations to which a passkey that is added in a session signs in alone. A provider proves the person to its own. */
export function aloneFrom(session: UserSession | undefined): readonly OrganizationId[] | undefined {
  return session?.within ?? (session?.at && [session.organizationId]);
}

/** Time after a proof by the second factor in which keys, users and identity are changed, milliseconds. */
const PROOF_LIFETIME_MS = 10 * 60_000;
/** The same after a sign-in of a person without a second factor, to whom each proof is a mail, or a way to the provider. */
const SIGN_IN_PROVES_MS = 60 * 60_000;

/** Proof of the person that is owed. `sign-in-first`: a new sign-in, before a second factor is set up alone. */
export type OwedProof = 'factor' | 'sign-in' | 'sign-in-first';

/** Undefined: the person was proven lately. */
export function owedProof(
  session: UserSession,
  user: { readonly secondFactor?: SecondFactor | undefined; readonly memberships: readonly unknown[] },
  now: Millis,
): OwedProof | undefined {
  // Wrong codes in a session of the provider of one organization would lock the person out of the others.
  const isElsewhere = session.at !== undefined && user.memberships.length > 1;
  const provenAt = isElsewhere ? session.at?.provenAt : session.provenAt;
  if (isProven({ ...(provenAt !== undefined && { provenAt }) }, now)) return undefined;
  if (user.secondFactor !== undefined && !isElsewhere) return 'factor';
  return provenAt !== undefined && now - provenAt < SIGN_IN_PROVES_MS ? 'sign-in-first' : 'sign-in';
}

/** The session that a link begins. */
export function signedIn(
  { secondFactor }: { readonly secondFactor?: SecondFactor | undefined },
  given: UserSession,
  { passkey, organizations: within }: SignInLink,
  at: Millis,
): UserSession {
  const session = within === undefined ? given : { ...given, within };
  if (passkey !== undefined && secondFactor?.passkeys?.some(({ id }) => id === passkey))
    return { ...session, factor: true, provenAt: at };
  if (secondFactor !== undefined) return { ...session, pending: true };
  return { ...session, provenAt: at };
}

/** The session that takes the place of one that waits for the second factor. */
interface WholeSession {
  /** Digest of the one that waits. */
  readonly pending: string;
  readonly session: UserSession;
}

/** Effect of a proof on sessions. */
export interface ProvesSession {
  /** Id of the person, for the log: a new session ends the oldest of too many. */
  readonly userId?: string;
  readonly begins?: WholeSession;
  /** Id of the open session in which the person is proven. */
  readonly proves?: string;
}

/** False for who finds a session open: they must not set up what keeps the account for them. */
export function isProven({ provenAt }: Pick<UserSession, 'provenAt'>, now: Millis): boolean {
  return provenAt !== undefined && now - provenAt < PROOF_LIFETIME_MS;
}

/**
 * The sessions after a proof. Undefined: there is no such session that waits.
 * @param isSetUp true: the factor is new, so having it proves nobody, and the last proof stays
 */
export function afterProving(
  { sessions: all }: { readonly sessions?: readonly UserSession[] },
  { begins, proves }: ProvesSession,
  at: Millis,
  isSetUp = false,
): readonly UserSession[] | undefined {
  const sessions = unexpired(all, at);
  const proven = { factor: true, ...(!isSetUp && { provenAt: at }) } as const;
  if (begins === undefined)
    return sessions.map((one) => (idOfSession(one) === proves ? { ...one, ...proven } : one));
  const { pending, session } = begins;
  const waiting = sessions.find(({ sha256 }) => sha256 === pending);
  if (waiting === undefined) return undefined;
  const { provenAt, within } = waiting;
  const kept = { ...(provenAt !== undefined && { provenAt }), ...(within !== undefined && { within }) };
  const whole = { ...session, ...kept, ...proven };
  return limited([...sessions.filter((one) => one !== waiting), whole]);
}

/** The newest ones, in their order. */
export function limited(sessions: readonly UserSession[]): readonly UserSession[] {
  const waiting = sessions.filter(({ pending }) => pending === true).slice(-MAX_PENDING);
  const whole = sessions.filter(({ pending }) => pending !== true).slice(-MAX_USER_SESSIONS);
  return sessions.filter((one) => waiting.includes(one) || whole.includes(one));
}

export function unexpired<Ending extends { readonly expiresAt: Millis }>(
  all: readonly Ending[] | undefined,
  now: Millis,
): readonly Ending[] {
  return (all ?? []).filter(({ expiresAt }) => expiresAt > now);
}
