/**
 * The second factor of users: codes of an authenticator app, and recovery codes.
 *
 * Source: docs/identity.md.
 */
import { hash } from 'node:crypto';
import { durableIfAccepted } from '@sealwright/runtime';
import { encode } from 'uqr';
import type { SignInEntry } from '../../../contracts/portal/users.ts';
import { type OrganizationId, parsePortalId, type UserId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  idOfSession,
  roleIn,
  type UserContext,
  type UserMessage,
  type UserSession,
} from '../../../machines/portal/portal-user.ts';
import { type FactorProof, RECOVERY_CODES } from '../../../machines/portal/user/second-factor.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { SecretBox } from '../../shared/secret-box.ts';
import { callerName, type RequestOrigin, type Tenant } from '../api/callers.ts';
import { base32, otpauthUri, TOTP_SECRET_BYTES, verifyTotp } from '../shared/totp.ts';
import { ORGANIZATION } from './organizations.ts';
import { recordSession, sessionOrigin } from './session-log.ts';
import { formTokenOf, isSame, parseToken, SECRET_BYTES } from './session-tokens.ts';
import { PORTAL_USER } from './users.ts';

/** Bytes of a recovery code: 16 characters of Base32, too many to guess. */
const RECOVERY_BYTES = 10;
/** Longer texts are no code. */
const MAX_CODE_LENGTH = 64;

/** Whose factor it is, and in which session. */
export interface FactorOwner {
  readonly userId: UserId;
  readonly sessionId: string;
  readonly organizationId: OrganizationId;
  readonly email: string;
  readonly organization: string;
}

/** A session that waits for the second factor. */
export interface PendingSignIn extends FactorOwner {
  /** False: it must be set up first. */
  readonly hasFactor: boolean;
  readonly formToken: string;
}

/** Content of an authenticator app. */
export interface FactorEnrolment {
  /** The encrypted secret, good in this session. */
  readonly sealed: string;
  /** The secret in Base32, in groups of four. */
  readonly secret: string;
  readonly uri: string;
  /** QR code of `uri`: squares of a side, and the dark ones as a path of SVG. */
  readonly code: { readonly size: number; readonly path: string };
}

export interface FactorState {
  readonly since: number;
  readonly recoveryCodes: number;
}

/** `used`: also a code of the app that was used already. `locked`: too many wrong codes, up to this time. */
export type FactorOutcome<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'locked' };

export class SecondFactors {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'system' | 'store' | 'clock' | 'ids'>,
    private readonly box: SecretBox,
    /** Length of a session, milliseconds (`Auth:SessionHours`). */
    private readonly sessionLifetime: number,
  ) {}

  /** The session of a cookie that waits for the second factor; undefined for others. */
  async pending(token: string): Promise<PendingSignIn | undefined> {
    const { userId, secret, sha256 } = parseToken(token);
    const user = await this.#read(userId);
    const session = (user?.sessions ?? []).find((one) => isSame(one.sha256, sha256));
    if (user === undefined || session?.pending !== true) return undefined;
    if (session.expiresAt <= this.runtime.clock.now()) return undefined;
    const { organizationId } = session;
    const organization = await this.runtime.system.read({ kind: ORGANIZATION, id: organizationId });
    if (organization === undefined || roleIn(user, organizationId) === undefined) return undefined;
    return {
      ...{ userId: userId as UserId, organizationId, email: user.email },
      ...{ sessionId: idOfSession({ sha256 }), organization: organization.context.name },
      ...{ hasFactor: user.secondFactor !== undefined, formToken: formTokenOf(secret) },
    };
  }

  /** Undefined: the user has none. Refusals: `UserNotFound`. */
  async state(userId: string): Promise<FactorState | undefined> {
    const { secondFactor } = (await this.#read(userId)) ?? {};
    return secondFactor && { since: secondFactor.since, recoveryCodes: secondFactor.recovery.length };
  }

  /** Begins to set up. @param sealed of the page that is shown again; another secret if it is not readable */
  enrolment(owner: FactorOwner, sealed?: string): FactorEnrolment {
    const { ids } = this.runtime;
    const known = sealed === undefined ? undefined : this.#open(owner, sealed);
    const bytes = known ?? ids.bytes(TOTP_SECRET_BYTES);
    const uri = otpauthUri(owner.organization, owner.email, bytes);
    return {
      sealed: known && sealed ? sealed : this.box.encrypt(bytes.toString('base64'), enrolmentPlace(owner)),
      secret: grouped(base32(bytes)),
      ...{ uri, code: squares(uri) },
    };
  }

  /**
   * Sets up the factor with a code of the app, and begins the session that waits. Undefined: the code is wrong.
   * @param waiting cookie of the session that waits. Refusals: `Forbidden`: there is a factor
   */
  async enrol(
    owner: FactorOwner,
    given: { readonly sealed: string; readonly code: string },
    from: RequestOrigin,
    waiting?: string,
  ): Promise<{ readonly recovery: readonly string[]; readonly token: string | undefined } | undefined> {
    const bytes = this.#open(owner, given.sealed);
    const counter = bytes && verifyTotp(bytes, given.code, this.#seconds(), -1);
    if (bytes === undefined || counter === undefined) return undefined;
    const recovery = this.#recoveryCodes();
    if (waiting === undefined) await this.#requireOwn(owner);
    const begins = waiting === undefined ? undefined : this.#whole(owner, waiting, from);
    const isAccepted = await this.#send(owner.userId, {
      type: 'ENROL_FACTOR',
      totp: this.box.encrypt(bytes.toString('base64'), place(owner.userId)),
      counter,
      recovery: recovery.map(digest),
      ...(begins !== undefined && { begins: begins.message }),
    });
    if (!isAccepted)
      throw new PortalRefusal('Forbidden', 'There is a second factor, or the session is over.');
    await this.#record(owner, 'FactorAdded', from);
    if (begins !== undefined) await this.#begun(owner, begins, from);
    return { recovery: recovery.map(grouped), token: begins?.token };
  }

  /** Begins the session that waits. @param waiting its cookie. @returns the cookie of the session */
  async pass(
    owner: FactorOwner,
    code: string,
    from: RequestOrigin,
    waiting: string,
  ): Promise<FactorOutcome<string>> {
    const begins = this.#whole(owner, waiting, from);
    const outcome = await this.#prove(owner, code, from, { begins: begins.message });
    if (outcome.kind !== 'done') return outcome;
    await this.#begun(owner, begins, from);
    return { kind: 'done', result: begins.token };
  }

  /** Removes the factor; needs a code. */
  async remove(owner: FactorOwner, code: string, from: RequestOrigin): Promise<FactorOutcome<void>> {
    await this.#requireOwn(owner);
    const outcome = await this.#prove(owner, code, from, { removes: true });
    if (outcome.kind === 'done') await this.#record(owner, 'FactorRemoved', from);
    return outcome;
  }

  /** Replaces the recovery codes; needs a code. */
  async renew(
    owner: FactorOwner,
    code: string,
    from: RequestOrigin,
  ): Promise<FactorOutcome<readonly string[]>> {
    const recovery = this.#recoveryCodes();
    await this.#requireOwn(owner);
    const outcome = await this.#prove(owner, code, from, { recovery: recovery.map(digest) });
    if (outcome.kind !== 'done') return outcome;
    await this.#record(owner, 'RecoveryCodesRenewed', from);
    return { kind: 'done', result: recovery.map(grouped) };
  }

  /**
   * Removes the factor of a user of the organization. Refusals: `UserNotFound`; `Forbidden` for a person who belongs to
   * others, too: the command line can.
   */
  async reset(tenant: Tenant, userId: string): Promise<void> {
    const organizationId = tenant.organization.id;
    const user = await this.#read(userId);
    if (!user?.memberships.some((one) => one.organizationId === organizationId))
      throw new PortalRefusal('UserNotFound');
    if (user.memberships.length > 1) throw new PortalRefusal('Forbidden');
    await resetFactor(this.runtime, organizationId, userId as UserId, callerName(tenant), tenant.origin);
  }

  /**
   * Refusals: `Forbidden` in a session that began at the provider of one of several organizations: it must not set up, or
   * lock, what the person needs in the others.
   */
  async #requireOwn({ userId, sessionId }: FactorOwner): Promise<void> {
    const { sessions = [], memberships = [] } = (await this.#read(userId)) ?? {};
    const session = sessions.find((one) => idOfSession(one) === sessionId);
    if (memberships.length > 1 && session?.at !== undefined)
      throw new PortalRefusal('Forbidden', 'Sign in by a mailed link to change the second factor.');
  }

  async #prove(
    owner: FactorOwner,
    code: string,
    from: RequestOrigin,
    then: Pick<Extract<UserMessage, { readonly type: 'PROVE_FACTOR' }>, 'begins' | 'removes' | 'recovery'>,
  ): Promise<FactorOutcome<void>> {
    const { userId } = owner;
    const user = await this.#read(userId);
    const proof = this.#proofOf(userId, user, code);
    const isAccepted = await this.#send(userId, { type: 'PROVE_FACTOR', proof, ...then });
    if (proof === null && isAccepted) await this.#record(owner, 'FactorFailed', from);
    if (proof !== null && isAccepted) {
      if ('recovery' in proof) await this.#record(owner, 'RecoveryCodeUsed', from);
      return { kind: 'done', result: undefined };
    }
    const now = await this.#read(userId);
    return { kind: (now?.secondFactor?.lockedUntil ?? 0) > this.runtime.clock.now() ? 'locked' : 'wrong' };
  }

  #proofOf(userId: UserId, user: UserContext | undefined, given: string): FactorProof {
    const factor = user?.secondFactor;
    if (factor === undefined || given.length > MAX_CODE_LENGTH) return null;
    const secret = Buffer.from(this.box.decrypt(factor.totp, place(userId)), 'base64');
    const counter = verifyTotp(secret, given, this.#seconds(), factor.counter);
    if (counter !== undefined) return { counter };
    const wanted = digest(given.replaceAll(/[\s-]/g, '').toUpperCase());
    const recovery = factor.recovery.filter((one) => isSame(one, wanted))[0];
    return recovery === undefined ? null : { recovery };
  }

  #whole(owner: FactorOwner, waiting: string, from: RequestOrigin) {
    const { clock, ids } = this.runtime;
    const secret = ids.bytes(SECRET_BYTES).toString('base64url');
    const session: UserSession = {
      sha256: hash('sha256', secret),
      begun: sessionOrigin(clock.now(), from),
      organizationId: owner.organizationId,
      expiresAt: clock.now() + this.sessionLifetime,
    };
    return {
      token: `${owner.userId}.${secret}`,
      message: { pending: parseToken(waiting).sha256, session },
    };
  }

  async #begun(
    owner: FactorOwner,
    { message }: { readonly message: { readonly session: UserSession } },
    from: RequestOrigin,
  ): Promise<void> {
    await this.#record({ ...owner, sessionId: idOfSession(message.session) }, 'SignedIn', from);
  }

  #record(owner: FactorOwner, action: SignInEntry['action'], from: RequestOrigin): Promise<void> {
    const { userId, sessionId, organizationId } = owner;
    const origin = sessionOrigin(this.runtime.clock.now(), from);
    return recordSession(this.runtime, organizationId, { action, userId, sessionId, origin });
  }

  #recoveryCodes(): readonly string[] {
    return Array.from({ length: RECOVERY_CODES }, () => base32(this.runtime.ids.bytes(RECOVERY_BYTES)));
  }

  /** Undefined for a secret of another session. */
  #open(owner: FactorOwner, sealed: string): Buffer | undefined {
    try {
      return Buffer.from(this.box.decrypt(sealed, enrolmentPlace(owner)), 'base64');
    } catch {
      return undefined;
    }
  }

  async #send(
    id: UserId,
    message: Extract<UserMessage, { readonly type: 'ENROL_FACTOR' | 'PROVE_FACTOR' }> extends infer Message
      ? Message extends unknown
        ? Omit<Message, 'at' | 'by'>
        : never
      : never,
  ): Promise<boolean> {
    const event = { ...message, by: `user ${id}` };
    return (
      (await durableIfAccepted(this.runtime.system.send({ kind: PORTAL_USER, id }, event))) !== undefined
    );
  }

  #seconds(): number {
    return Math.floor(this.runtime.clock.now() / 1000);
  }

  async #read(given: string): Promise<UserContext | undefined> {
    const id = parsePortalId('UserId', given);
    return id && (await this.runtime.system.read({ kind: PORTAL_USER, id }))?.context;
  }
}

/** Removes the second factor of a user. @returns false where there is none */
export async function resetFactor(
  runtime: Pick<ServiceRuntime, 'system' | 'clock'>,
  organizationId: OrganizationId,
  userId: UserId,
  by: string,
  from?: RequestOrigin,
): Promise<boolean> {
  const sent = runtime.system.send({ kind: PORTAL_USER, id: userId }, { type: 'RESET_FACTOR', by });
  if ((await durableIfAccepted(sent)) === undefined) return false;
  const origin = sessionOrigin(runtime.clock.now(), from);
  await recordSession(runtime, organizationId, {
    ...{ action: 'FactorReset', userId, sessionId: null, origin, by },
  });
  return true;
}

function place(userId: string): string {
  return `user/${userId}/totp`;
}

function enrolmentPlace({ userId, sessionId }: FactorOwner): string {
  return `user/${userId}/enrolment/${sessionId}`;
}

function digest(code: string): string {
  return hash('sha256', code);
}

function grouped(text: string): string {
  return text.match(/.{1,4}/g)?.join('-') ?? '';
}

/** Dark squares of a QR code, with its quiet zone. */
function squares(text: string): FactorEnrolment['code'] {
  const rows = encode(text, { ecc: 'M', border: 4 }).data;
  const path = rows.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return { size: rows.length, path: path.join('') };
}
