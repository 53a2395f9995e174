/** Codes of mailboxes, and the sessions that they begin. Source: docs/decisions/0570-what-waits-for-a-mailbox.md. */
import { accepted } from '@sealwright/runtime';
import { visibleText } from '../../../contracts/plain-text.ts';
import type { WaitingCode } from '../../../contracts/portal/signing/waiting.ts';
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
import { countUse } from '../shared/use-limits.ts';
import { type CodeRecipient, MAILBOX_SESSION, type SigningCodes } from './signing-codes.ts';

/** Least time between two codes, milliseconds. */
const CODE_PAUSE_MS = 60_000;
const MAILBOX_CODES = { most: 10, period: 3_600_000 };
const TOO_MANY = 'As many codes were sent as may be in this time.';
const TICKET_BYTES = 32;

interface MailboxSession extends ProvenMailbox {
  readonly endDate: Millis;
}

export class MailboxSessions {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>,
    private readonly codes: SigningCodes,
  ) {}

  /** Does the same for a mailbox that nothing waits for, but for the mail. Refusals: those of the operation. */
  async sendCode({ email, language, resend }: WaitingCode): Promise<void> {
    const { actors, store } = this.runtime;
    const address = addressOf(email);
    const holder = holderOf(address);
    const wish = { resend: resend === true, pause: CODE_PAUSE_MS };
    if (await this.codes.hasCode(holder, wish)) return;
    await countUse(actors, { of: ['waiting', mailboxKey(address)], ...MAILBOX_CODES }, TOO_MANY);
    const [first] = await waitingFor(store, address, { limit: 1 });
    const { flowActionId, userId } = holder;
    const mail = first && {
      about: 'mailbox-code' as const,
      organizationId: NO_ORGANIZATION,
      // Not a name: whoever asks for a code may not be the owner of the mailbox.
      to: { name: null, email: address, ...(language && { language }) },
      flowActionId,
      userId,
    };
    await this.codes.sendTo(holder, mail, wish);
  }

  /** The ticket of a new session; the code is used up. Refusals: those of the operation. */
  async begin(email: string, code: string): Promise<{ readonly ticket: string; readonly endDate: Millis }> {
    const { actors, clock, ids } = this.runtime;
    const address = addressOf(email);
    await this.codes.check(holderOf(address), code, true);
    const ticket = ids.bytes(TICKET_BYTES).toString('base64url');
    const provenAt = clock.now();
    await accepted(
      actors.create(MAILBOX_SESSION, idOf(ticket), { email: address, provenAt }),
      () => new PortalRefusal('ServiceBusy'),
    );
    return { ticket, endDate: provenAt + MAILBOX_SESSION_LIFETIME_MS };
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
  };
}
