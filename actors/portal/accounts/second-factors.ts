/**
 * The second factor of users: codes of an authenticator app, passkeys, and recovery codes.
 *
 * Source: docs/identity.md.
 */
import { hash } from 'node:crypto';
import { plainLine } from '../../../contracts/plain-text.ts';
import type { SignInEntry } from '../../../contracts/portal/users.ts';
import { type OrganizationId, parsePortalId, type UserId } from '../../../machines/ids.ts';
import { roleIn, type UserContext, type UserMessage } from '../../../machines/portal/accounts/portal-user.ts';
import {
  type FactorProof,
  type Passkey,
  RECOVERY_CODES,
} from '../../../machines/portal/accounts/second-factor.ts';
import {
  idOfSession,
  isProven,
  needsFactor,
  SIGN_IN_LIFETIME_MS,
  type UserSession,
} from '../../../machines/portal/accounts/sessions.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { SecretBox } from '../../shared/secrets/secret-box.ts';
import { callerName, type RequestOrigin, type Tenant } from '../api/callers.ts';
import type { SigningLinks } from '../mails/signing-links.ts';
import {
  type AppContent,
  appContent,
  base32,
  grouped,
  TOTP_SECRET_BYTES,
  verifyTotp,
} from '../shared/totp.ts';
import { ORGANIZATION } from './organizations.ts';
import type { PasskeyCeremonies, PasskeyCreation, PasskeyRequest } from './passkeys.ts';
import { recordSession, sessionOrigin } from './session-log.ts';
import { formTokenOf, isSame, parseToken, SECRET_BYTES } from './session-tokens.ts';
import { PORTAL_USER } from './users.ts';

/** Bytes of a recovery code: 16 characters of Base32, too many to guess. */
const RECOVERY_BYTES = 10;
/** Longer texts are no code. */
const MAX_CODE_LENGTH = 64;
const MAX_PASSKEY_NAME = 60;

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
  /** False: the person was not proven lately, so the factor is not set up by who found the session open. */
  readonly isProven: boolean;
  /** The request to a passkey; undefined without one. */
  readonly request: PasskeyRequest | undefined;
  readonly formToken: string;
}

/** Content of an authenticator app. */
export interface FactorEnrolment extends AppContent {
  /** The encrypted secret, good in this session. */
  readonly sealed: string;
}

export interface FactorState {
  readonly recoveryCodes: number;
  readonly hasApp: boolean;
  readonly passkeys: readonly Pick<Passkey, 'id' | 'name' | 'addedAt' | 'usedAt'>[];
}

/** Proof of the second factor: a code, or the answer of a passkey in JSON; the other is empty. */
export interface SecondFactorProof {
  readonly code: string;
  readonly credential: string;
}

/** Recovery codes are new where the user had no second factor. `token`: cookie of the session that waited. */
export interface FactorAdded {
  readonly recovery: readonly string[] | undefined;
  readonly token: string | undefined;
}

/** `used`: also a code of the app that was used already. `locked`: too many wrong codes, up to this time. */
export type FactorOutcome<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'locked' };

export class SecondFactors {
  constructor(
    private readonly needs: {
      readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>;
      readonly box: SecretBox;
      readonly passkeys: PasskeyCeremonies;
      readonly links: Pick<SigningLinks, 'signInTicket'>;
      /** Length of a session, milliseconds (`Auth:SessionHours`). */
      readonly sessionLifetime: number;
    },
  ) {}

  /** The session of a cookie that waits for the second factor; undefined for others. */
  async pending(token: string): Promise<PendingSignIn | undefined> {
    const { userId, secret, sha256 } = parseToken(token);
    const user = await this.#read(userId);
    const session = (user?.sessions ?? []).find((one) => isSame(one.sha256, sha256));
    if (user === undefined || session === undefined) return undefined;
    if (session.expiresAt <= this.needs.runtime.clock.now()) return undefined;
    const { organizationId } = session;
    const organization = await this.needs.runtime.actors.read(ORGANIZATION, organizationId);
    if (organization === undefined || roleIn(user, organizationId) === undefined) return undefined;
    if (!needsFactor(session, user, organization.context.requireSecondFactor === true)) return undefined;
    const owner = {
      userId: userId as UserId,
      organizationId,
      email: user.email,
      sessionId: idOfSession({ sha256 }),
      organization: organization.context.name,
    };
    return {
      ...owner,
      hasFactor: user.secondFactor !== undefined,
      formToken: formTokenOf(secret),
      isProven: isProven(session, this.needs.runtime.clock.now()),
      request: this.#request(owner, user),
    };
  }

  /** Undefined: the user has none. Refusals: `UserNotFound`. */
  async state(userId: string): Promise<FactorState | undefined> {
    const { secondFactor } = (await this.#read(userId)) ?? {};
    return (
      secondFactor && {
        recoveryCodes: secondFactor.recovery.length,
        hasApp: secondFactor.totp !== undefined,
        passkeys: secondFactor.passkeys ?? [],
      }
    );
  }

  /** The request to a passkey of the user; undefined without one. */
  async request(owner: FactorOwner): Promise<PasskeyRequest | undefined> {
    const user = await this.#read(owner.userId);
    return user && this.#request(owner, user);
  }

  /** The request to an authenticator for a new passkey; undefined where browsers have none. */
  async creation(owner: FactorOwner): Promise<PasskeyCreation | undefined> {
    const { secondFactor } = (await this.#read(owner.userId)) ?? {};
    const { userId: id, email } = owner;
    return this.needs.passkeys.creation(
      useOf('creation', owner),
      { id, email },
      secondFactor?.passkeys ?? [],
    );
  }

  /**
   * Adds a passkey, and begins the session that waits. Undefined: the answer is none to this session.
   * @param waiting cookie of the session that waits. Refusals: `Forbidden` also for a replay, and beyond the limit
   */
  async addPasskey(
    owner: FactorOwner,
    given: { readonly credential: string; readonly name: string },
    from: RequestOrigin,
    waiting?: string,
  ): Promise<FactorAdded | undefined> {
    const made = await this.needs.passkeys.created(useOf('creation', owner), given.credential);
    if (made === undefined) return undefined;
    const passkey = {
      ...made.passkey,
      name: passkeyName(given.name),
      addedAt: this.needs.runtime.clock.now(),
    };
    const { challenge } = made;
    return this.#add(owner, from, waiting, (recovery) => ({
      type: 'ADD_PASSKEY',
      passkey,
      challenge,
      recovery,
    }));
  }

  /** Refusals: `Forbidden` for one that the user does not have. */
  async renamePasskey({ userId }: FactorOwner, passkey: string, name: string): Promise<void> {
    const event = { type: 'RENAME_PASSKEY', passkey, name: passkeyName(name) } as const;
    if (!(await this.#send(userId, event))) throw new PortalRefusal('Forbidden');
  }

  /** Refusals: `Forbidden` for one that the user does not have. */
  async removePasskey(owner: FactorOwner, passkey: string, from: RequestOrigin): Promise<void> {
    await this.#requireOwn(owner);
    if (!(await this.#send(owner.userId, { type: 'REMOVE_PASSKEY', passkey })))
      throw new PortalRefusal('Forbidden');
    await this.#record(owner, 'PasskeyRemoved', from);
  }

  /** A request to any passkey; undefined where browsers have none. `browser`: secret of its cookie */
  anyRequest(): { readonly browser: string; readonly request: PasskeyRequest | undefined } {
    const browser = this.needs.runtime.ids.bytes(SECRET_BYTES).toString('base64url');
    return { browser, request: this.needs.passkeys.request(`sign-in/${browser}`, []) };
  }

  /** Makes a link from the answer of a passkey. @returns the ticket of the link; undefined for another answer */
  async linkByPasskey(browser: string, credential: string): Promise<string | undefined> {
    const id = parsePortalId('UserId', this.needs.passkeys.userOf(credential) ?? '');
    const { passkeys = [] } = (id && (await this.#read(id)))?.secondFactor ?? {};
    const proof = await this.needs.passkeys.proof(`sign-in/${browser}`, credential, passkeys);
    if (id === undefined || proof === undefined) return undefined;
    const { clock, ids } = this.needs.runtime;
    const { passkey } = proof;
    const organizations = passkeys.find(({ id: one }) => one === passkey)?.alone;
    const issues = {
      id: ids.uuid(),
      expiresAt: clock.now() + SIGN_IN_LIFETIME_MS,
      passkey,
      ...(organizations !== undefined && { organizations }),
    };
    if (!(await this.#send(id, { type: 'PROVE_FACTOR', proof, issues }))) return undefined;
    return this.needs.links.signInTicket({ userId: id, linkId: issues.id, expiresAt: issues.expiresAt });
  }

  /** Begins to set up. @param sealed of the page that is shown again; another secret if it is not readable */
  enrolment(owner: FactorOwner, sealed?: string): FactorEnrolment {
    const { ids } = this.needs.runtime;
    const known = sealed === undefined ? undefined : this.#open(owner, sealed);
    const bytes = known ?? ids.bytes(TOTP_SECRET_BYTES);
    return {
      sealed:
        known && sealed ? sealed : this.needs.box.encrypt(bytes.toString('base64'), enrolmentPlace(owner)),
      ...appContent(owner.organization, owner.email, bytes),
    };
  }

  /**
   * Sets up the app with a code of it, and begins the session that waits. Undefined: the code is wrong.
   * @param waiting cookie of the session that waits. Refusals: `Forbidden`: there is an app
   */
  async enrol(
    owner: FactorOwner,
    given: { readonly sealed: string; readonly code: string },
    from: RequestOrigin,
    waiting?: string,
  ): Promise<FactorAdded | undefined> {
    const bytes = this.#open(owner, given.sealed);
    const counter = bytes && verifyTotp(bytes, given.code, this.#seconds(), -1);
    if (bytes === undefined || counter === undefined) return undefined;
    const totp = this.needs.box.encrypt(bytes.toString('base64'), place(owner.userId));
    return this.#add(owner, from, waiting, (recovery) => ({ type: 'ENROL_FACTOR', totp, counter, recovery }));
  }

  async #add(
    owner: FactorOwner,
    from: RequestOrigin,
    waiting: string | undefined,
    message: (recovery: readonly string[]) => FactorMessage,
  ): Promise<FactorAdded> {
    if (waiting === undefined) await this.#requireOwn(owner);
    const before = await this.#read(owner.userId);
    const recovery = this.#recoveryCodes();
    const begins = waiting === undefined ? undefined : this.#whole(owner, waiting, from);
    const event = message(recovery.map(digest));
    const proves = begins === undefined ? { proves: owner.sessionId } : { begins: begins.message };
    if (!(await this.#send(owner.userId, { ...event, ...proves })))
      throw new PortalRefusal(
        'Forbidden',
        'There is one already, there are too many, or the session is over.',
      );
    await this.#record(owner, event.type === 'ADD_PASSKEY' ? 'PasskeyAdded' : 'FactorAdded', from);
    if (begins !== undefined) await this.#begun(owner, begins, from);
    const isFirst = before?.secondFactor === undefined;
    return { recovery: isFirst ? recovery.map(grouped) : undefined, token: begins?.token };
  }

  /** Begins the session that waits. @param waiting its cookie. @returns the cookie of the session */
  async pass(
    owner: FactorOwner,
    given: SecondFactorProof,
    from: RequestOrigin,
    waiting: string,
  ): Promise<FactorOutcome<string>> {
    const begins = this.#whole(owner, waiting, from);
    const outcome = await this.#prove(owner, given, from, { begins: begins.message });
    if (outcome.kind !== 'done') return outcome;
    await this.#begun(owner, begins, from);
    return { kind: 'done', result: begins.token };
  }

  /** Proves the person in the open session. Refusals: `Forbidden` as `#requireOwn`, since wrong codes lock. */
  async prove(
    owner: FactorOwner,
    given: SecondFactorProof,
    from: RequestOrigin,
  ): Promise<FactorOutcome<void>> {
    await this.#requireOwn(owner);
    return this.#prove(owner, given, from, { proves: owner.sessionId });
  }

  /** Removes the app; needs a code. */
  async remove(owner: FactorOwner, code: string, from: RequestOrigin): Promise<FactorOutcome<void>> {
    await this.#requireOwn(owner);
    const outcome = await this.#prove(owner, { code, credential: '' }, from, { removes: true });
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
    const given = { code, credential: '' };
    const outcome = await this.#prove(owner, given, from, { recovery: recovery.map(digest) });
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
    await resetFactor(this.needs.runtime, organizationId, {
      userId: userId as UserId,
      by: callerName(tenant),
      from: tenant.origin,
    });
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
    { code, credential }: SecondFactorProof,
    from: RequestOrigin,
    then: Omit<Extract<UserMessage, { readonly type: 'PROVE_FACTOR' }>, 'type' | 'at' | 'by' | 'proof'>,
  ): Promise<FactorOutcome<void>> {
    const { userId } = owner;
    const user = await this.#read(userId);
    const { passkeys = [] } = user?.secondFactor ?? {};
    const proof =
      credential === ''
        ? this.#proofOf(userId, user, code)
        : await this.needs.passkeys.proof(useOf('request', owner), credential, passkeys);
    // The answer of an authenticator cannot be guessed, so wrong ones do not count.
    if (proof === undefined) return { kind: 'wrong' };
    const isAccepted = await this.#send(userId, { type: 'PROVE_FACTOR', proof, ...then });
    if (proof === null && isAccepted) await this.#record(owner, 'FactorFailed', from);
    if (proof !== null && isAccepted) {
      if ('recovery' in proof) await this.#record(owner, 'RecoveryCodeUsed', from);
      return { kind: 'done', result: undefined };
    }
    const now = await this.#read(userId);
    return {
      kind: (now?.secondFactor?.lockedUntil ?? 0) > this.needs.runtime.clock.now() ? 'locked' : 'wrong',
    };
  }

  #proofOf(userId: UserId, user: UserContext | undefined, given: string): FactorProof {
    const factor = user?.secondFactor;
    if (factor === undefined || given.length > MAX_CODE_LENGTH) return null;
    if (factor.totp !== undefined) {
      const secret = Buffer.from(this.needs.box.decrypt(factor.totp, place(userId)), 'base64');
      const counter = verifyTotp(secret, given, this.#seconds(), factor.counter);
      if (counter !== undefined) return { counter };
    }
    const wanted = digest(given.replaceAll(/[\s-]/g, '').toUpperCase());
    const recovery = factor.recovery.filter((one) => isSame(one, wanted))[0];
    return recovery === undefined ? null : { recovery };
  }

  #whole(owner: FactorOwner, waiting: string, from: RequestOrigin) {
    const { clock, ids } = this.needs.runtime;
    const secret = ids.bytes(SECRET_BYTES).toString('base64url');
    const session: UserSession = {
      sha256: hash('sha256', secret),
      begun: sessionOrigin(clock.now(), from),
      organizationId: owner.organizationId,
      expiresAt: clock.now() + this.needs.sessionLifetime,
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
    const origin = sessionOrigin(this.needs.runtime.clock.now(), from);
    return recordSession(this.needs.runtime, organizationId, { action, userId, sessionId, origin });
  }

  #recoveryCodes(): readonly string[] {
    return Array.from({ length: RECOVERY_CODES }, () => base32(this.needs.runtime.ids.bytes(RECOVERY_BYTES)));
  }

  #request(owner: FactorOwner, { secondFactor }: UserContext): PasskeyRequest | undefined {
    const { passkeys = [] } = secondFactor ?? {};
    return passkeys.length === 0 ? undefined : this.needs.passkeys.request(useOf('request', owner), passkeys);
  }

  /** Undefined for a secret of another session. */
  #open(owner: FactorOwner, sealed: string): Buffer | undefined {
    try {
      return Buffer.from(this.needs.box.decrypt(sealed, enrolmentPlace(owner)), 'base64');
    } catch {
      return undefined;
    }
  }

  async #send(id: UserId, message: FactorMessage): Promise<boolean> {
    const event = { ...message, by: `user ${id}`, userId: id };
    return (await this.needs.runtime.actors.send(PORTAL_USER, id, event)).accepted;
  }

  #seconds(): number {
    return Math.floor(this.needs.runtime.clock.now() / 1000);
  }

  async #read(given: string): Promise<UserContext | undefined> {
    const id = parsePortalId('UserId', given);
    return id && (await this.needs.runtime.actors.read(PORTAL_USER, id))?.context;
  }
}

type WithoutOrigin<Message> = Message extends unknown ? Omit<Message, 'at' | 'by'> : never;
type FactorMessage = WithoutOrigin<
  Extract<
    UserMessage,
    { readonly type: 'ENROL_FACTOR' | 'PROVE_FACTOR' | `${'ADD' | 'RENAME' | 'REMOVE'}_PASSKEY` }
  >
>;

/** Use of a challenge: it is answered by this user, in this session. */
function useOf(what: 'creation' | 'request', { userId, sessionId }: FactorOwner): string {
  return `${what}/${userId}/${sessionId}`;
}

/** One line, shortened. */
function passkeyName(given: string): string {
  const name = plainLine(given).trim().slice(0, MAX_PASSKEY_NAME);
  return name === '' ? 'Passkey' : name;
}

/** Removes the second factor of a user. @returns false where there is none */
export async function resetFactor(
  runtime: Pick<ServiceRuntime, 'actors' | 'clock'>,
  organizationId: OrganizationId,
  {
    userId,
    by,
    from,
  }: { readonly userId: UserId; readonly by: string; readonly from?: RequestOrigin | undefined },
): Promise<boolean> {
  const sent = runtime.actors.send(PORTAL_USER, userId, { type: 'RESET_FACTOR', by });
  if (!(await sent).accepted) return false;
  const origin = sessionOrigin(runtime.clock.now(), from);
  await recordSession(runtime, organizationId, {
    action: 'FactorReset',
    userId,
    sessionId: null,
    origin,
    by,
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
