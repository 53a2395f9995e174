/**
 * Authenticator apps and passkeys of participants. One is set up with a signature and a code that was mailed: later codes,
 * and answers of the passkey, prove that this person returns.
 *
 * Source: docs/decisions/0291-authenticator-apps-of-participants.md.
 */
import { defineActor } from '@sealwright/runtime';
import type { Millis } from '../../../machines/ids.ts';
import { withApp, withPasskey } from '../../../machines/portal/accounts/second-factor.ts';
import { type AuthenticatorContext, authenticatorMachine } from '../../../machines/portal/authenticator.ts';
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Participant } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { SecretBox } from '../../shared/secrets/secret-box.ts';
import type { PasskeyCeremonies, PasskeyCreation, PasskeyRequest } from '../accounts/passkeys.ts';
import { callerName, type Tenant } from '../api/callers.ts';
import type { AppEnrolment } from '../api/signing.ts';
import { derivedId } from '../shared/effect-ids.ts';
import { addressKey } from '../shared/mail-address.ts';
import { appContent, TOTP_SECRET_BYTES, verifyTotp } from '../shared/totp.ts';

export const AUTHENTICATOR = defineActor('authenticator', {
  machine: authenticatorMachine,
  version: 1,
  secrets: ['totp', 'recovery', 'sha256'],
  ends: ({ state }) => state === 'Over',
});

/** Requests to the browser. */
export interface PasskeyOptions {
  readonly request: PasskeyRequest | undefined;
  readonly creation: PasskeyCreation | undefined;
}

/** Whose app it is. */
type Owner = Pick<AuthenticatorContext, 'organizationId' | 'email'>;

export class Authenticators {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'clock' | 'ids'>,
    private readonly box: SecretBox,
    private readonly ceremonies: PasskeyCeremonies,
  ) {}

  /** True: there is an app. */
  async has(owner: Owner): Promise<boolean> {
    return (await this.#read(owner))?.factor.totp !== undefined;
  }

  /** True: codes count beside a mailed one alone, since others were wrong too often. */
  async isLocked(owner: Owner): Promise<boolean> {
    return ((await this.#read(owner))?.factor.lockedUntil ?? 0) > this.runtime.clock.now();
  }

  /** Undefined where browsers have no passkeys. */
  async passkeys(owner: Owner): Promise<{ readonly isKnown: boolean } | undefined> {
    if (this.ceremonies.request('', []) === undefined) return undefined;
    return { isKnown: ((await this.#read(owner))?.factor.passkeys ?? []).length > 0 };
  }

  /**
   * What the browser is asked to confirm this step by a passkey, and to make another one; undefined where there is none.
   * @param step document, its version, its bytes, and action: an answer counts for nothing else
   */
  async passkeyOptions(owner: Owner, step: string, organization: string): Promise<PasskeyOptions> {
    const { passkeys = [] } = (await this.#read(owner))?.factor ?? {};
    const user = { id: idOf(owner), email: `${owner.email} (${organization})` };
    const creation = this.ceremonies.creation(useOf('creation', owner, step), user, passkeys);
    return {
      request:
        passkeys.length === 0 ? undefined : this.ceremonies.request(useOf('request', owner, step), passkeys),
      // The page names it, so none needs to be found by the browser, as those of users who sign in.
      creation: creation && {
        ...creation,
        authenticatorSelection: { residentKey: 'discouraged', userVerification: 'required' },
      },
    };
  }

  /** Takes the answer of a passkey to this step. @returns when it was added. Refusals: `InvalidAuthenticationCode`, also for a replay. */
  async confirmByPasskey(owner: Owner, step: string, answer: string): Promise<Millis> {
    const { passkeys = [] } = (await this.#read(owner))?.factor ?? {};
    const proof = await this.ceremonies.proof(useOf('request', owner, step), answer, passkeys);
    const known = passkeys.find(({ id }) => id === proof?.passkey);
    const sent =
      proof && (await this.runtime.actors.send(AUTHENTICATOR, idOf(owner), { type: 'PROVE', proof }));
    if (known === undefined || !sent?.accepted) throw new PortalRefusal('InvalidAuthenticationCode');
    return known.addedAt;
  }

  /** Adds a passkey. The caller has checked a mailed code. Refusals: `InvalidAuthenticationCode`, also beyond the limit of ten. */
  async addPasskey(owner: Owner, step: string, answer: string): Promise<void> {
    const { actors, clock } = this.runtime;
    const made = await this.ceremonies.created(useOf('creation', owner, step), answer);
    if (made === undefined) throw new PortalRefusal('InvalidAuthenticationCode');
    const at = clock.now();
    const { challenge } = made;
    const passkey = { ...made.passkey, name: '', addedAt: at };
    const factor = withPasskey(undefined, { passkey, recovery: [] }, at);
    const begun =
      factor && actors.create(AUTHENTICATOR, idOf(owner), { ...owner, factor, usedChallenges: [challenge] });
    if (begun !== undefined && (await begun).accepted) return;
    const sent = actors.send(AUTHENTICATOR, idOf(owner), { type: 'ADD_PASSKEY', passkey, challenge });
    if (!(await sent).accepted) throw new PortalRefusal('InvalidAuthenticationCode');
  }

  /** Begins to set up an app: each page has a secret of its own, which counts once `confirm` has taken a code of it. */
  enrolment(owner: Owner, organization: string): AppEnrolment {
    const secret = this.runtime.ids.bytes(TOTP_SECRET_BYTES);
    const { secret: text, code } = appContent(organization, owner.email, secret);
    return { sealed: this.box.encrypt(secret.toString('base64'), enrolmentPlace(owner)), secret: text, code };
  }

  /**
   * Takes a code; where there is no app, the one of `sealed` is set up. `isMailed`: a mailed code was right, too. Wrong
   * ones with and without it are counted apart, so that nobody who has a link alone locks the participant out.
   * @returns when it was set up
   * Refusals: `InvalidAuthenticationCode`, also for a code that was used; `TooManyRequests` after too many wrong ones.
   */
  async confirm(
    owner: Owner,
    code: string,
    { sealed, isMailed }: { readonly sealed: string | undefined; readonly isMailed: boolean },
  ): Promise<Millis> {
    const { actors, clock } = this.runtime;
    const id = idOf(owner);
    const { factor, appSince } = (await this.#read(owner)) ?? {};
    if (factor?.totp === undefined) return this.#enrol(owner, code, sealed);
    const secret = Buffer.from(this.box.decrypt(factor.totp, placeOf(owner)), 'base64');
    const counter = verifyTotp(secret, code, seconds(clock.now()), factor.counter);
    const proof = counter === undefined ? null : { counter };
    const sent = await actors.send(AUTHENTICATOR, id, { type: 'PROVE', proof, isMailed });
    if (proof !== null && sent.accepted) return appSince ?? factor.since;
    const now = await this.#read(owner);
    const wait = ((isMailed ? now?.mailed : now?.factor)?.lockedUntil ?? 0) - clock.now();
    if (wait <= 0) throw new PortalRefusal('InvalidAuthenticationCode');
    const remedy = isMailed ? '' : ' Beside a mailed code they count.';
    throw new PortalRefusal('TooManyRequests', `Too many wrong codes of the authenticator app.${remedy}`, {
      retryAfterSeconds: Math.ceil(wait / 1000),
    });
  }

  async #enrol(owner: Owner, code: string, sealed: string | undefined): Promise<Millis> {
    const { actors, clock } = this.runtime;
    const at = clock.now();
    const secret = sealed === undefined ? undefined : this.#open(owner, sealed);
    const counter = secret && verifyTotp(secret, code, seconds(at), -1);
    if (secret === undefined || counter === undefined)
      throw new PortalRefusal(
        'InvalidAuthenticationCode',
        'The participant sets up an authenticator app on the signing page first.',
      );
    const totp = this.box.encrypt(secret.toString('base64'), placeOf(owner));
    const factor = withApp(undefined, { totp, counter, recovery: [] }, at);
    const id = idOf(owner);
    if ((await actors.create(AUTHENTICATOR, id, { ...owner, factor })).accepted) return at;
    const sent = await actors.send(AUTHENTICATOR, id, { type: 'ENROL', totp, counter });
    if (!sent.accepted) throw new PortalRefusal('ServiceBusy');
    return at;
  }

  /** True when the participant has an app or passkeys. */
  async hasAny(owner: Owner): Promise<boolean> {
    return (await this.#read(owner)) !== undefined;
  }

  /** Refusals: `FlowActionNotFound` where the participant has nothing to remove. */
  async assertAny(owner: Owner): Promise<void> {
    if (!(await this.hasAny(owner))) throw nothingToReset();
  }

  /** Removes app and passkeys: the participant sets up others. Refusals: those of `assertAny`. */
  async reset(tenant: Tenant, owner: Owner): Promise<void> {
    const sent = this.runtime.actors.send(AUTHENTICATOR, idOf(owner), {
      type: 'RESET',
      by: callerName(tenant),
    });
    if (!(await sent).accepted) throw nothingToReset();
  }

  async #read(owner: Owner): Promise<AuthenticatorContext | undefined> {
    return (await this.runtime.actors.read(AUTHENTICATOR, idOf(owner)))?.context;
  }

  /** Undefined for a secret of another participant. */
  #open(owner: Owner, sealed: string): Buffer | undefined {
    try {
      return Buffer.from(this.box.decrypt(sealed, enrolmentPlace(owner)), 'base64');
    } catch {
      return undefined;
    }
  }
}

/** Undefined for a participant without an address. */
export function appOwner(
  { organization }: Pick<DocumentContext, 'organization'>,
  { email }: Pick<Participant, 'email'>,
): Owner | undefined {
  return email === null ? undefined : { organizationId: organization.id, email: addressKey(email) };
}

function nothingToReset(): PortalRefusal {
  return new PortalRefusal('FlowActionNotFound', 'The participant has no authenticator app or passkey.');
}

function idOf({ organizationId, email }: Owner): string {
  return derivedId('authenticator', organizationId, email);
}

function placeOf(owner: Owner): string {
  return `authenticator/${idOf(owner)}/totp`;
}

function useOf(what: 'creation' | 'request', owner: Owner, step: string): string {
  return `participant/${what}/${idOf(owner)}/${step}`;
}

function enrolmentPlace(owner: Owner): string {
  return `authenticator/${idOf(owner)}/enrolment`;
}

function seconds(at: Millis): number {
  return Math.floor(at / 1000);
}
