/** Deputies of people who have proven their mailboxes. Source: docs/decisions/0580-deputies.md. */
import { accepted } from '@sealwright/runtime';
import {
  type DeputyshipView,
  type DeputyView,
  MAX_DEPUTYSHIPS,
  type NewDeputy,
} from '../../../contracts/portal/signing/deputies.ts';
import type { Millis } from '../../../machines/ids.ts';
import { type DeputyMail, NO_ORGANIZATION } from '../../../machines/portal/mail.ts';
import { type Deputy, MAX_DEPUTIES } from '../../../machines/portal/mailbox.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { type PlanDependencies, planSuccessor } from '../documents/document-plans.ts';
import { addressKey, mailboxKey } from '../shared/mail-address.ts';
import { deputiesOf, MAILBOX, mailboxId, peopleOfDeputy } from '../shared/mailbox-records.ts';
import { busyUnlessMade } from '../shared/records.ts';
import { countUse } from '../shared/use-limits.ts';
import type { MailboxSessions } from '../signing/mailbox-sessions.ts';

const DAY_MS = 24 * 3_600_000;
const LONGEST_MS = 400 * DAY_MS;
const PER_DAY = { most: 10, period: DAY_MS };
const TOO_MANY = 'As many deputies were named as may in a day.';

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
    const people = await peopleOfDeputy(runtime, email, MAX_DEPUTYSHIPS);
    return {
      deputies: own.map(viewOf),
      people: people.slice(0, MAX_DEPUTYSHIPS).map(({ person, deputy }) => {
        const { id, startDate, endDate } = viewOf(deputy);
        return { id, person, startDate, endDate };
      }),
    };
  }

  /** Refusals: those of the operation. */
  async name(ticket: string, given: NewDeputy): Promise<DeputyView> {
    const { runtime, sessions, plans } = this.needs;
    const { actors, clock, ids } = runtime;
    const { email: person } = await sessions.read(ticket);
    const { from, until } = timeOf(given, clock.now());
    const planned = planSuccessor({ name: given.name, email: given.email }, { confirmations: [] }, plans);
    const { name, email } = { name: planned.name ?? '', email: addressKey(planned.email ?? '') };
    if (mailboxKey(email) === mailboxKey(person))
      throw new PortalRefusal('InvalidFlowAction', 'Name another person.');
    await countUse(actors, { of: ['deputies', mailboxKey(person)], ...PER_DAY }, TOO_MANY);
    await countUse(actors, { of: ['deputy', mailboxKey(email)], ...PER_DAY }, TOO_MANY);
    const deputy: Deputy = { id: ids.uuid(), name, email, reason: given.reason, from, until };
    const mail = { about: 'deputy', organizationId: NO_ORGANIZATION, person, from, until } as const;
    const mails: readonly DeputyMail[] = [
      { ...mail, what: 'named', to: { name: null, email } },
      { ...mail, what: 'naming', to: { name: null, email: person }, deputy: `${name}, ${email}` },
    ];
    const id = mailboxId(person);
    await accepted(actors.create(MAILBOX, id, { email: person, deputies: [] }), busyUnlessMade);
    await accepted(actors.send(MAILBOX, id, { type: 'NAME', deputy, mails }), ({ reason }) =>
      reason === 'not-accepted'
        ? new PortalRefusal('LimitExceeded', `A mailbox has at most ${MAX_DEPUTIES} deputies.`)
        : new PortalRefusal('ServiceBusy'),
    );
    return viewOf(deputy);
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
