/**
 * Six-digit codes by e-mail, SMS or WhatsApp. A code is derived from a key of the portal, the action, the person and a number, and is
 * stored nowhere; which number is good, and how many guesses are left, is for the `flow-action` actor to say.
 *
 * Source: docs/portal-values.md §0, §10.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { accepted, defineActor } from '@sealwright/runtime';
import type { ElectronicSigning } from '../../../contracts/portal/signing/signing.ts';
import {
  CODE_KINDS,
  type CodeChannel,
  type CodeKind,
  type PhoneChannel,
} from '../../../contracts/portal/words.ts';
import { DAY_MS } from '../../../contracts/times.ts';
import type { DocumentId, FlowActionId, Millis, OrganizationId, UserId } from '../../../machines/ids.ts';
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import { recipientOf, summaryOf } from '../../../machines/portal/documents/document-notifications.ts';
import {
  type CodeNotice,
  flowActionMachine,
  isCodeGood,
  MAX_MESSAGES_PER_DAY,
  MAX_WRONG_CODES,
  nextCodeAt,
  wrongCodes,
} from '../../../machines/portal/flow-action.ts';
import { notify } from '../../../machines/portal/mail.ts';
import { MAILBOX_SESSION_ENDED, mailboxSessionMachine } from '../../../machines/portal/mailbox-session.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { MailRequest, Participant } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { Tenant } from '../api/callers.ts';
import { documentOfConfirmation } from '../document-records/document-index.ts';
import { phoneNumber } from '../documents/document-plans.ts';
import type { CodeLookup } from '../mails/mail-rendering.ts';
import { ALL_PHONES, messagesSince } from '../mails/mails.ts';
import { type Authenticators, appOwner, type PasskeyOptions } from './authenticators.ts';
import { assertTurn, type ConfirmedCodes, neededCodes, type SigningCall } from './signing-access.ts';

export const FLOW_ACTION = defineActor('flow-action', {
  machine: flowActionMachine,
  effects: [notify],
  version: 1,
  ends: ({ state }) => state === 'Over',
});

/** Begun by a code that proves a mailbox. */
export const MAILBOX_SESSION = defineActor('mailbox-session', {
  machine: mailboxSessionMachine,
  version: 1,
  ends: ({ state }) => state === MAILBOX_SESSION_ENDED,
});

/** @param key 32 bytes */
export function codesFrom(key: Buffer): CodeLookup {
  return (flowActionId, userId, generation, channel) => {
    const owner = [flowActionId, userId, generation, ...(channel === undefined ? [] : [channel])];
    const digest = createHmac('sha256', key).update(owner.join('/')).digest();
    // Strangers guess those of mailboxes, of all at once.
    const digits = channel === 'Mailbox' ? 10 : 6;
    // 48 bits over a million: no digit is likelier than another by more than one in 10^8.
    return String(digest.readUIntBE(0, 6) % 10 ** digits).padStart(digits, '0');
  };
}

/** Owner of the code. */
export interface CodeRecipient {
  readonly documentId: DocumentId;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
  /** Absent: e-mail. */
  readonly channel?: PhoneChannel;
  /** Absent: of a participant. */
  readonly isOfLink?: true;
  /** For the page of all documents that wait for a mailbox; absent = for one document. */
  readonly isOfMailbox?: true;
}

/** Demand for another code. */
interface CodeWish {
  /** True: also while the last one is valid. */
  readonly resend: boolean;
  /** Least time since the last one, milliseconds. @default none */
  readonly pause?: Millis;
}

export class SigningCodes {
  constructor(
    private readonly runtime: ServiceRuntime,
    private readonly codeFor: CodeLookup,
    private readonly authenticators: Authenticators,
    /** Codes by telephone that an organization sends in a day, at most; undefined: it sends none. */
    readonly messagesPerDay: number | undefined,
  ) {}

  /**
   * Sends a code to the participant's address, or to the telephone where the action requires that. While the last one is
   * valid, only on explicit request. Refusals: `InvalidFlowAction`, `InvalidDocumentStatus`, `TooManyRequests`, `TooManyWrongCodes`.
   */
  async send(call: SigningCall, channel: CodeChannel, resend: boolean): Promise<void> {
    assertTurn(call);
    const { context, turn, user } = call;
    const mail = { about: 'code', document: summaryOf(context), ...turn } as const;
    const to = recipientOf({ ...user, email: user.email ?? '' });
    if (channel === 'Email') {
      if (user.email === null)
        throw new PortalRefusal('InvalidFlowAction', 'The participant has no e-mail address.');
      return this.sendTo(holderOf(call, channel), { ...mail, to }, { resend });
    }
    const phone = phoneNumber(user.phone);
    if (phone === undefined || !neededCodes(call).includes(channel))
      throw new PortalRefusal('InvalidFlowAction', 'The action requires no such code.');
    await this.sendTo(holderOf(call, channel), { ...mail, to, message: { channel, phone } }, { resend });
  }

  /** The document of the organization whose pending action requires a code by telephone. Refusals: `FlowActionNotFound`. */
  async documentOf(organization: OrganizationId, action: FlowActionId): Promise<DocumentId> {
    const found = await documentOfConfirmation(this.runtime.store, organization, action);
    if (found === undefined) throw new PortalRefusal('FlowActionNotFound');
    return found;
  }

  /**
   * Returns the codes that were given, all of which are right. Refusals: `InvalidAuthenticationCode`, `TooManyWrongCodes`.
   * @param onWrong records a wrong one
   */
  async confirm(
    call: SigningCall,
    {
      emailCode,
      smsCode,
      whatsappCode,
      otpCode,
      otpEnrolment,
      passkey,
      newPasskey,
    }: Pick<
      ElectronicSigning,
      'emailCode' | 'smsCode' | 'whatsappCode' | 'otpCode' | 'otpEnrolment' | 'passkey' | 'newPasskey'
    >,
    onWrong: () => Promise<void>,
  ): Promise<ConfirmedCodes> {
    const codes = {
      Email: emailCode && typedCode(emailCode),
      Sms: smsCode && typedCode(smsCode),
      Whatsapp: whatsappCode && typedCode(whatsappCode),
      AuthenticatorApp: otpCode && typedCode(otpCode),
    };
    const needed = await codesToAsk(call, this.authenticators);
    // A code by e-mail counts also where none is needed; one by telephone is sent only where it is.
    const given = CODE_KINDS.filter(
      (channel) => codes[channel] && (channel === 'Email' || needed.includes(channel)),
    );
    // A passkey stands for the mailed code with which it was added; an app is set up with a code of its own.
    const isByPasskey =
      passkey !== undefined &&
      (!needed.includes('AuthenticatorApp') || (await this.authenticators.has(ownerOf(call))));
    const missing = needed.find(
      (channel) => !given.includes(channel) && !(channel === 'Email' && isByPasskey),
    );
    if (missing !== undefined)
      throw new PortalRefusal('InvalidAuthenticationCode', `The code ${WAYS[missing]} is needed.`, {
        details: { channel: missing },
      });
    let appSince: number | undefined;
    // That of the app is the last one: an app is set up only with the code that was mailed.
    const isMailed = given.includes('Email');
    const app = { sealed: isMailed ? otpEnrolment : undefined, isMailed };
    /** The page has a field for each, and marks the wrong one. */
    const tried = async <Result>(channel: CodeKind | 'Passkey', check: () => Promise<Result>) => {
      try {
        return await check();
      } catch (error) {
        if (!(error instanceof PortalRefusal)) throw error;
        await onWrong();
        const { retryAfterSeconds } = error;
        throw new PortalRefusal(error.code, error.message, {
          details: { channel },
          ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
        });
      }
    };
    const { authenticators } = this;
    for (const channel of given) {
      const code = codes[channel] ?? '';
      if (channel !== 'AuthenticatorApp')
        await tried(channel, () => this.check(holderOf(call, channel), code));
      else appSince = await tried(channel, () => authenticators.confirm(ownerOf(call), code, app));
    }
    const passkeySince = isByPasskey
      ? await tried('Passkey', () => authenticators.confirmByPasskey(ownerOf(call), stepOf(call), passkey))
      : undefined;
    if (newPasskey !== undefined && given.includes('Email'))
      await tried('Passkey', () => authenticators.addPasskey(ownerOf(call), stepOf(call), newPasskey));
    return {
      kinds: given,
      ...(appSince !== undefined && { appSince }),
      ...(passkeySince !== undefined && { passkeySince }),
    };
  }

  /** Refusals: `InvalidFlowAction` for a participant without an address. */
  async passkeyOptions(call: SigningCall): Promise<PasskeyOptions> {
    assertTurn(call);
    const { name } = call.context.organization;
    return this.authenticators.passkeyOptions(ownerOf(call), stepOf(call), name);
  }

  /** Those of the people who have an app or passkeys, by id. */
  async factorHolders(
    context: Pick<DocumentContext, 'organization'>,
    people: readonly Participant[],
  ): Promise<ReadonlySet<string>> {
    const holders = new Set<string>();
    for (const user of people) {
      const owner = appOwner(context, user);
      if (owner !== undefined && (await this.authenticators.hasAny(owner))) holders.add(user.id);
    }
    return holders;
  }

  /**
   * Refusals: `FlowActionNotFound`.
   * @param onReset is called before, where there is something to reset
   */
  async resetApp(call: SigningCall, tenant: Tenant, onReset: () => Promise<void>): Promise<void> {
    const owner = ownerOf(call);
    await this.authenticators.assertAny(owner);
    await onReset();
    await this.authenticators.reset(tenant, owner);
  }

  /** True while no further code is to be sent unless somebody asks for one. Refusals: `TooManyRequests` before the pause is over. */
  async hasCode(holder: CodeRecipient, { resend, pause }: CodeWish): Promise<boolean> {
    const { actors, clock } = this.runtime;
    const now = clock.now();
    const actor = await actors.read(FLOW_ACTION, codesActor(holder));
    if (actor === undefined) return false;
    if (!resend && isCodeGood(actor.context, now)) return true;
    const next = nextCodeAt(actor.context, now, pause);
    if (next > now) throw tooMany(next - now);
    return false;
  }

  /** Refusals: `TooManyRequests`, `TooManyWrongCodes`. @param mail undefined: there is a code, which nobody gets */
  async sendTo(
    holder: CodeRecipient,
    mail: CodeNotice | undefined,
    { resend, pause }: CodeWish,
  ): Promise<void> {
    const { actors, clock } = this.runtime;
    if (mail?.about === 'code') await this.#assertFewMessages(mail);
    const id = codesActor(holder);
    const made = await actors.create(FLOW_ACTION, id, { ...holder });
    if (!made.accepted && made.reason !== 'exists') throw new PortalRefusal('ServiceBusy');
    const message = { type: 'SEND', resend, ...(mail && { notice: mail }), ...(pause && { pause }) } as const;
    await accepted(actors.send(FLOW_ACTION, id, message), (refused) => {
      if (!('context' in refused)) return new PortalRefusal('ServiceBusy');
      const { context } = refused;
      if (wrongCodes(context) >= MAX_WRONG_CODES) return new PortalRefusal('TooManyWrongCodes');
      const now = clock.now();
      if (!resend && isCodeGood(context, now)) return undefined;
      const next = nextCodeAt(context, now, pause);
      return next <= now ? new PortalRefusal('ServiceBusy') : tooMany(next - now);
    });
  }

  /** Limits for all documents of an organization together: of each telephone, and of all. Refusals: `TooManyRequests`. */
  async #assertFewMessages({ message, document }: Omit<MailRequest, 'codeGeneration'>): Promise<void> {
    // Without a gateway the mail itself says what is missing.
    if (message === undefined || this.messagesPerDay === undefined) return;
    const { clock, store } = this.runtime;
    const now = clock.now();
    const { organizationId } = document;
    const since = now - DAY_MS;
    const sent = await messagesSince(store, organizationId, {
      phone: message.phone,
      time: since,
      most: MAX_MESSAGES_PER_DAY,
    });
    if (sent.length >= MAX_MESSAGES_PER_DAY) throw tooMany((sent[0] ?? now) + DAY_MS - now);
    const most = this.messagesPerDay;
    const all = await messagesSince(store, organizationId, { phone: ALL_PHONES, time: since, most });
    if (all.length >= most)
      throw tooMany(
        (all[0] ?? now) + DAY_MS - now,
        'The organization has sent as many codes by telephone as it may in a day. Sign tomorrow, or have Portal:MessageGateway:MessagesPerDay raised.',
      );
  }

  /** Checks the code that was mailed to the participant. Refusals: as `check`. */
  checkMailed(call: SigningCall, code: string): Promise<void> {
    return this.check(holderOf(call, 'Email'), code);
  }

  /**
   * Refusals: `InvalidAuthenticationCode` for a wrong guess, one too many, and one too late; `TooManyWrongCodes`.
   * @param isOnce true: the right code is used up
   */
  async check(holder: CodeRecipient, given: string, isOnce = false): Promise<void> {
    const code = typedCode(given);
    const { actors } = this.runtime;
    const { codeFor } = this;
    const id = codesActor(holder);
    const actor = await actors.read(FLOW_ACTION, id);
    if (actor === undefined) throw new PortalRefusal('InvalidAuthenticationCode');
    const { generation } = actor.context;
    const { flowActionId, userId, channel, isOfMailbox } = holder;
    const right = codeFor(flowActionId, userId, generation, isOfMailbox ? 'Mailbox' : channel);
    const isRight = isSame(code, right);
    // The step decides: guesses at the same moment are counted one by one.
    const guess = { type: 'GUESS', generation, isRight, ...(isOnce && { isOnce }) } as const;
    const outcome = await actors.send(FLOW_ACTION, id, guess);
    if (outcome.accepted && isRight) return;
    // Right and wrong codes are answered alike then.
    const isOver = 'context' in outcome && wrongCodes(outcome.context) >= MAX_WRONG_CODES;
    throw new PortalRefusal(isOver ? 'TooManyWrongCodes' : 'InvalidAuthenticationCode');
  }
}

const WAYS = {
  Email: 'that was sent by e-mail',
  Sms: 'that was sent by SMS',
  Whatsapp: 'that was sent by WhatsApp',
  AuthenticatorApp: 'of the authenticator app',
} as const satisfies Record<CodeKind, string>;

/** Codes without which the action is not signed now: an app is set up with a mailed code, whatever the link asks for. */
export async function codesToAsk(
  call: Pick<SigningCall, 'context' | 'action' | 'user' | 'needsEmailCode'>,
  authenticators: Pick<Authenticators, 'has'>,
): Promise<readonly CodeKind[]> {
  const needed = neededCodes(call);
  if (!needed.includes('AuthenticatorApp') || needed.includes('Email')) return needed;
  return (await authenticators.has(ownerOf(call))) ? needed : ['Email', ...needed];
}

/** Refusals: `InvalidFlowAction` for a participant without an address. */
function ownerOf({ context, user }: Pick<SigningCall, 'context' | 'user'>) {
  const owner = appOwner(context, user);
  if (owner === undefined)
    throw new PortalRefusal('InvalidFlowAction', 'The participant has no e-mail address.');
  return owner;
}

/** Document, version, bytes, and whose action: a passkey confirms what its person was shown. */
function stepOf({ context: { id, version, file }, turn }: SigningCall): string {
  return [id, version, file.blob.sha256, turn.flowActionId, turn.userId].join('/');
}

function holderOf({ context, turn }: SigningCall, channel: CodeChannel): CodeRecipient {
  return { documentId: context.id, ...turn, ...(channel !== 'Email' && { channel }) };
}

function tooMany(wait: number, says = 'Too many codes were sent.'): PortalRefusal {
  return new PortalRefusal('TooManyRequests', says, {
    retryAfterSeconds: Math.max(1, Math.ceil(wait / 1000)),
  });
}

function isSame(guess: string, right: string): boolean {
  const given = Buffer.from(guess);
  const wanted = Buffer.from(right);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** The id of the actor that guards one person's codes for one action. */
export function codesActor({ flowActionId, userId, channel }: Omit<CodeRecipient, 'documentId'>): string {
  const owner = `${flowActionId}.${userId}`;
  return channel === undefined ? owner : `${owner}.${channel}`;
}

/** The digits of a code as people paste it: with spaces, hyphens or marks of direction between them, or in full width. */
function typedCode(text: string): string {
  return text.normalize('NFKC').replace(/[\s\p{Pd}\p{Cf}]/gu, '');
}
