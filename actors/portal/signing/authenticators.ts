/**
 * Authenticator apps of participants. One is set up with the first signature that requires it, together with a code that
 * was mailed: later codes prove that this person returns.
 *
 * Source: docs/decisions/0290-authenticator-apps-of-participants.md.
 */
import { actorKind, defineActor, durableIfAccepted } from '@sealwright/runtime';
import type { Millis } from '../../../machines/ids.ts';
import { type AuthenticatorContext, authenticatorMachine } from '../../../machines/portal/authenticator.ts';
import type { DocumentContext } from '../../../machines/portal/document/document-context.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Participant } from '../../../machines/portal/portal-types.ts';
import { withApp } from '../../../machines/portal/user/second-factor.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { SecretBox } from '../../shared/secret-box.ts';
import { callerName, type Tenant } from '../api/callers.ts';
import type { AppEnrolment } from '../api/signing.ts';
import { derivedId } from '../shared/effect-ids.ts';
import { appContent, TOTP_SECRET_BYTES, verifyTotp } from '../shared/totp.ts';

export const AUTHENTICATOR = actorKind<typeof authenticatorMachine>('authenticator');

export const authenticatorDefinition = defineActor(AUTHENTICATOR, {
  machine: authenticatorMachine,
  version: 1,
  ends: ({ state }) => state === 'Over',
});

/** Whose app it is. */
type Owner = Pick<AuthenticatorContext, 'organizationId' | 'email'>;

export class Authenticators {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'system' | 'clock' | 'ids'>,
    private readonly box: SecretBox,
  ) {}

  async has(owner: Owner): Promise<boolean> {
    return (await this.runtime.system.read(addressOf(owner))) !== undefined;
  }

  /** Begins to set up an app: each page has a secret of its own, which counts once `confirm` has taken a code of it. */
  enrolment(owner: Owner, organization: string): AppEnrolment {
    const secret = this.runtime.ids.bytes(TOTP_SECRET_BYTES);
    const { secret: text, code } = appContent(organization, owner.email, secret);
    return { sealed: this.box.encrypt(secret.toString('base64'), enrolmentPlace(owner)), secret: text, code };
  }

  /**
   * Takes a code; where there is no app, the one of `sealed` is set up. @returns when it was set up
   * Refusals: `InvalidAuthenticationCode`, also for a code that was used; `TooManyRequests` after too many wrong ones.
   */
  async confirm(owner: Owner, code: string, sealed: string | undefined): Promise<Millis> {
    const { system, clock } = this.runtime;
    const address = addressOf(owner);
    const actor = await system.read(address);
    if (actor === undefined) return this.#enrol(owner, code, sealed);
    const { factor } = actor.context;
    const secret = Buffer.from(this.box.decrypt(factor.totp ?? '', placeOf(owner)), 'base64');
    const counter = verifyTotp(secret, code, seconds(clock.now()), factor.counter);
    const proof = counter === undefined ? null : { counter };
    const sent = await durableIfAccepted(system.send(address, { type: 'PROVE', proof }));
    if (proof !== null && sent !== undefined) return factor.since;
    const wait = ((await system.read(address))?.context.factor.lockedUntil ?? 0) - clock.now();
    if (wait <= 0) throw new PortalRefusal('InvalidAuthenticationCode');
    throw new PortalRefusal('TooManyRequests', 'Too many wrong codes of the authenticator app.', {
      retryAfterSeconds: Math.ceil(wait / 1000),
    });
  }

  async #enrol(owner: Owner, code: string, sealed: string | undefined): Promise<Millis> {
    const { system, clock } = this.runtime;
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
    if ((await durableIfAccepted(system.create(addressOf(owner), { ...owner, factor }))) === undefined)
      throw new PortalRefusal('ServiceBusy');
    return at;
  }

  /** Removes the app: the participant sets up another. Refusals: `FlowActionNotFound` where there is none. */
  async reset(tenant: Tenant, owner: Owner): Promise<void> {
    const sent = this.runtime.system.send(addressOf(owner), { type: 'RESET', by: callerName(tenant) });
    if ((await durableIfAccepted(sent)) === undefined)
      throw new PortalRefusal('FlowActionNotFound', 'The participant has no authenticator app.');
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
  return email === null ? undefined : { organizationId: organization.id, email: email.toLowerCase() };
}

function addressOf(owner: Owner) {
  return { kind: AUTHENTICATOR, id: idOf(owner) } as const;
}

function idOf({ organizationId, email }: Owner): string {
  return derivedId('authenticator', organizationId, email);
}

function placeOf(owner: Owner): string {
  return `authenticator/${idOf(owner)}/totp`;
}

function enrolmentPlace(owner: Owner): string {
  return `authenticator/${idOf(owner)}/enrolment`;
}

function seconds(at: Millis): number {
  return Math.floor(at / 1000);
}
