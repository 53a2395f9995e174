/** Deputies of people who have proven their mailboxes. Source: docs/decisions/0580-deputies.md. */
import { accepted } from '@sealwright/runtime';
import {
  type DeputyshipView,
  type DeputyView,
  MAX_DEPUTYSHIPS,
  NAMING_MINUTES,
  type NewDeputy,
} from '../../../contracts/portal/signing/deputies.ts';
import { DAY_MS, MINUTE_MS } from '../../../contracts/times.ts';
import type { Millis } from '../../../machines/ids.ts';
import { type DeputyMail, NO_ORGANIZATION } from '../../../machines/portal/mail.ts';
import {
  type Deputy,
  deputyOfMailbox,
  isSameNaming,
  MAX_DEPUTIES,
} from '../../../machines/portal/mailbox.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { waitingFor } from '../document-records/document-index.ts';
import { type PlanDependencies, planSuccessor } from '../documents/document-plans.ts';
import { addressKey, asciiAddress, mailboxKey } from '../shared/mail-address.ts';
import { deputiesOf, isDeputyOfMost, MAILBOX, mailboxId, peopleOfDeputy } from '../shared/mailbox-records.ts';
import { busyUnlessMade } from '../shared/records.ts';
import { countUse } from '../shared/use-limits.ts';
import type { MailboxSession, MailboxSessions } from '../signing/mailbox-sessions.ts';

const LONGEST_MS = 400 * DAY_MS;
const NAMING_MS = NAMING_MINUTES * MINUTE_MS;
const PER_MAILBOX = { most: 10, period: DAY_MS };
/** As an office of many people has at most, before its holidays. */
const PER_NETWORK = { most: 100, period: DAY_MS };
const PER_DOMAIN = { most: 200, period: DAY_MS };
const TOO_MANY = 'No more deputies can be named today.';

export class Deputies {
  constructor(
    private readonly needs: {
      readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>;
      readonly sessions: MailboxSessions;
      readonly plans: PlanDependencies;
    },
  ) {}

  /** Refusals: `InvalidTicket`. */
  async checkAccess(ticket: string): Promise<void> {
    await this.needs.sessions.read(ticket);
  }

  /** Refusals: `InvalidTicket`. */
  async view(
    ticket: string,
  ): Promise<{ deputies: readonly DeputyView[]; people: readonly DeputyshipView[] }> {
    const { runtime, sessions } = this.needs;
    const { email } = await sessions.read(ticket);
    const own = await deputiesOf(runtime.actors, email, runtime.clock.now());
    const people = await peopleOfDeputy(runtime, email);
    return {
      deputies: own.map(viewOf),
      people: people.map(({ person, deputy }) => {
        const { id, name, startDate, endDate } = viewOf(deputy);
        return { id, person, name, startDate, endDate };
      }),
    };
  }

  /** Named twice in the same way, it is named once. Refusals: those of the operation. @param network of the site of the caller */
  async name(ticket: string, given: NewDeputy, network: string): Promise<DeputyView> {
    const { actors, clock } = this.needs.runtime;
    const session = await this.needs.sessions.read(ticket);
    const now = clock.now();
    if (now >= session.provenAt + NAMING_MS)
      throw new PortalRefusal('InvalidAuthenticationCode', 'Begin another session: its code is too old.');
    const { email: person } = session;
    const planned = this.#planned(person, given, now);
    const own = await deputiesOf(actors, person, now);
    const before = deputyOfMailbox(own, planned.email, now);
    if (before !== undefined && isSameNaming(before, planned, now)) return viewOf(before);
    await this.#assertAsked(session, own);
    if (before === undefined) await this.#assertRoom(own, planned.email);
    await this.#count(person, planned.email, network);
    const { from, until } = planned;
    const { language } = given;
    const mail = { about: 'deputy', organizationId: NO_ORGANIZATION, person, from, until } as const;
    const to = (email: string) => ({ name: null, email, ...(language && { language }) });
    const mails: readonly DeputyMail[] = [
      { ...mail, what: 'named', to: to(planned.email) },
      { ...mail, what: 'naming', to: to(person), deputy: `${planned.name}, ${planned.email}` },
    ];
    const id = mailboxId(person);
    await accepted(actors.create(MAILBOX, id, { email: person, deputies: [] }), busyUnlessMade);
    await accepted(actors.send(MAILBOX, id, { type: 'NAME', deputy: planned, mails }), ({ reason }) =>
      reason === 'not-accepted' ? tooMany() : new PortalRefusal('ServiceBusy'),
    );
    const named = deputyOfMailbox(await deputiesOf(actors, person, now), planned.email, now);
    return viewOf(named ?? planned);
  }

  /** Refusals: those of the operation. */
  #planned(person: string, given: NewDeputy, now: Millis): Deputy {
    const { runtime, plans } = this.needs;
    const times = timeOf(given, now);
    const successor = planSuccessor({ name: given.name, email: given.email }, { confirmations: [] }, plans);
    const email = addressKey(successor.email ?? '');
    const asciiEmail = asciiAddress(email);
    if (mailboxKey(email) === mailboxKey(person))
      throw new PortalRefusal('InvalidFlowAction', 'Name another person.');
    return {
      id: runtime.ids.uuid(),
      name: successor.name ?? '',
      email,
      ...(asciiEmail !== email && { asciiEmail }),
      reason: given.reason,
      ...times,
    };
  }

  /** Whoever is a deputy alone names nobody: one mailbox would open many. Refusals: `Forbidden`. */
  async #assertAsked({ email, isAsked = false }: MailboxSession, own: readonly Deputy[]): Promise<void> {
    if (isAsked || own.length > 0) return;
    const waiting = await waitingFor(this.needs.runtime.store, email, { limit: 1 });
    if (waiting.length === 0) throw new PortalRefusal('Forbidden', 'Nothing waits for this mailbox.');
  }

  /** Before anything is counted: of another mailbox, nobody uses up its limit in vain. Refusals: `LimitExceeded`. */
  async #assertRoom(own: readonly Deputy[], email: string): Promise<void> {
    if (own.length >= MAX_DEPUTIES) throw tooMany();
    if (await isDeputyOfMost(this.needs.runtime, email))
      throw new PortalRefusal('LimitExceeded', `A deputy has at most ${MAX_DEPUTYSHIPS} people.`);
  }

  /** Refusals: `TooManyRequests`. */
  async #count(person: string, email: string, network: string): Promise<void> {
    const { actors } = this.needs.runtime;
    const domain = person.slice(person.lastIndexOf('@') + 1);
    await countUse(actors, { of: ['deputies-network', network], ...PER_NETWORK }, TOO_MANY);
    await countUse(actors, { of: ['deputies-domain', addressKey(domain)], ...PER_DOMAIN }, TOO_MANY);
    await countUse(actors, { of: ['deputies', mailboxKey(person)], ...PER_MAILBOX }, TOO_MANY);
    await countUse(actors, { of: ['deputy', mailboxKey(email)], ...PER_MAILBOX }, TOO_MANY);
  }

  /** It may have ended before. Refusals: `InvalidTicket`. @param person whose deputy gives it up; absent = the person ends it */
  async end(ticket: string, id: string, person?: string | null): Promise<void> {
    const { runtime, sessions } = this.needs;
    const { email } = await sessions.read(ticket);
    const message = { type: 'END', id, ...(person && { deputyEmail: addressKey(email) }) } as const;
    await accepted(runtime.actors.send(MAILBOX, mailboxId(person || email), message), ({ reason }) =>
      reason === 'stopped' ? new PortalRefusal('ServiceBusy') : undefined,
    );
  }
}

function tooMany(): PortalRefusal {
  return new PortalRefusal('LimitExceeded', `A mailbox has at most ${MAX_DEPUTIES} deputies.`);
}

/** Refusals: `BadRequest`. */
function timeOf({ startDate, endDate }: NewDeputy, now: Millis): Pick<Deputy, 'from' | 'until'> {
  const from = Math.max(startDate ?? now, now);
  if (endDate <= from) throw badField('EndDate', 'must be later than the start, and than now');
  if (endDate - now > LONGEST_MS) throw badField('EndDate', 'must be at most 400 days from now');
  return { from, until: endDate };
}

function viewOf({ id, name, email, reason, from, until }: Deputy): DeputyView {
  return { id, name, email, reason, startDate: from, endDate: until };
}
