/** Codes of mailboxes, and the sessions that they begin. Source: docs/decisions/0570-what-waits-for-a-mailbox.md. */
import { accepted } from '@sealwright/runtime';
import { visibleText } from '../../../contracts/plain-text.ts';
import type { WaitingCode } from '../../../contracts/portal/signing/waiting.ts';
import { HOUR_MS } from '../../../contracts/times.ts';
import type { DocumentId, FlowActionId, Millis, UserId } from '../../../machines/ids.ts';
import { NO_ORGANIZATION } from '../../../machines/portal/mail.ts';
import {
  MAILBOX_SESSION_ENDED,
  MAILBOX_SESSION_LIFETIME_MS,
  type ProvenMailbox,
} from '../../../machines/portal/mailbox-session.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { waitingFor } from '../document-records/document-index.ts';
import { derivedId } from '../shared/effect-ids.ts';
import { addressKey, isMailAddress, mailboxKey } from '../shared/mail-address.ts';
import { hasDeputies } from '../shared/mailbox-records.ts';
import { countUse } from '../shared/use-limits.ts';
import { type CodeRecipient, MAILBOX_SESSION, type SigningCodes } from './signing-codes.ts';

/** Least time between two codes, milliseconds. */
const CODE_PAUSE_MS = 60_000;
const MAILBOX_CODES = { most: 10, period: HOUR_MS };
const MAILBOX_CODES_PER_DAY = { most: 20, period: 24 * HOUR_MS };
/** Calls from one network of a site: each names a mailbox, and one guess of its code. */
const NETWORK_CALLS = { most: 300, period: HOUR_MS };
const TOO_MANY = 'As many codes were sent as may be in this time.';
const TICKET_BYTES = 32;

export interface MailboxSession extends ProvenMailbox {
  /** True if something waited for the mailbox at the start. @default false */
  readonly isAsked?: boolean;
  readonly endDate: Millis;
}

export class MailboxSessions {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids' | 'log'>,
    private readonly codes: SigningCodes,
  ) {}

  /** Does the same for a mailbox that nothing waits for, but for the mail. Refusals: those of the operation. */
  async sendCode({ email, language, resend }: WaitingCode, network: string): Promise<void> {
    const { actors, store } = this.runtime;
    const address = addressOf(email);
    await this.#countCall(network);
    const holder = holderOf(address);
    const wish = { resend: resend === true, pause: CODE_PAUSE_MS };
    if (await this.codes.hasCode(holder, wish)) return;
    const mailbox = mailboxKey(address);
    await countUse(actors, { of: ['waiting', mailbox], ...MAILBOX_CODES }, TOO_MANY);
    await countUse(actors, { of: ['waiting-day', mailbox], ...MAILBOX_CODES_PER_DAY }, TOO_MANY);
    const [first] = await waitingFor(store, address, { limit: 1 });
    const isOfDeputy = await hasDeputies(this.runtime, address);
    const to = first?.email ?? (isOfDeputy ? addressKey(address) : undefined);
    const { flowActionId, userId } = holder;
    const mail =
      to === undefined
        ? undefined
        : {
            about: 'mailbox-code' as const,
            organizationId: NO_ORGANIZATION,
            // Not a name: whoever asks for a code may not be the owner of the mailbox.
            to: { name: null, email: to, ...(language && { language }) },
            flowActionId,
            userId,
          };
    await this.codes.sendTo(holder, mail, wish);
  }

  /** The ticket of a new session; the code is used up. Refusals: those of the operation. */
  async begin(
    email: string,
    code: string,
    network: string,
  ): Promise<{ readonly ticket: string; readonly endDate: Millis }> {
    const { actors, clock, ids, store } = this.runtime;
    const address = addressOf(email);
    await this.#countCall(network);
    try {
      await this.codes.check(holderOf(address), code, true);
    } catch (error) {
      if (error instanceof PortalRefusal && error.code === 'InvalidAuthenticationCode')
        this.runtime.log.warn('A code of a mailbox was wrong.', { Network: network });
      throw error;
    }
    const ticket = ids.bytes(TICKET_BYTES).toString('base64url');
    const provenAt = clock.now();
    const isAsked = (await waitingFor(store, address, { limit: 1 })).length > 0;
    await accepted(
      actors.create(MAILBOX_SESSION, idOf(ticket), { email: address, provenAt, isAsked }),
      () => new PortalRefusal('ServiceBusy'),
    );
    return { ticket, endDate: provenAt + MAILBOX_SESSION_LIFETIME_MS };
  }

  /** Before anything is stored of the mailbox. @param network of the site of the caller */
  async #countCall(network: string): Promise<void> {
    const limit = { of: ['waiting-network', network], ...NETWORK_CALLS };
    await countUse(this.runtime.actors, limit, 'As many calls came from this network as may in this time.');
  }

  /** Refusals: `InvalidTicket`. */
  async read(ticket: string): Promise<MailboxSession> {
    const { actors, clock } = this.runtime;
    const session = await actors.read(MAILBOX_SESSION, idOf(ticket));
    const endDate = (session?.context.provenAt ?? 0) + MAILBOX_SESSION_LIFETIME_MS;
    if (session === undefined || session.state === MAILBOX_SESSION_ENDED || clock.now() >= endDate)
      throw new PortalRefusal('InvalidTicket');
    return { ...session.context, endDate };
  }

  /** It may have ended before. */
  async leave(ticket: string): Promise<void> {
    await accepted(
      this.runtime.actors.send(MAILBOX_SESSION, idOf(ticket), { type: 'LEAVE' }),
      ({ reason }) => (reason === 'stopped' ? new PortalRefusal('ServiceBusy') : undefined),
    );
  }
}

/** Whoever reads the store learns no ticket. */
function idOf(ticket: string): string {
  return derivedId('mailbox-session', ticket);
}

/** Refusals: `BadRequest`. */
function addressOf(email: string): string {
  const address = visibleText(email).trim();
  if (!isMailAddress(address)) throw badField('Email', 'must be an e-mail address');
  return address;
}

/** Of the exact address. */
function holderOf(address: string): CodeRecipient {
  const id = (of: string) => derivedId('mailbox', of, addressKey(address));
  return {
    documentId: id('codes') as DocumentId,
    flowActionId: id('action') as FlowActionId,
    userId: id('person') as UserId,
    isOfLink: true,
    isOfMailbox: true,
  };
}
