/**
 * The actors of e-mails, and what can be seen of them. Implements `PortalMails` and `OperatorMails`.
 *
 * Views: `mails` [createdAt, id] → id · `mails-by` [state, createdAt, id] → id · `document-mails` [documentId, createdAt, id] → organization's id;
 * counters `mails/<state>`.
 */

import {
  type ActorStore,
  type ActorSystem,
  type ActorView,
  actorKind,
  type Clock,
  defineActor,
  Fatal,
  type Ids,
  type Row,
} from '@sealwright/runtime';
import type { Page } from '../../../contracts/portal/lists.ts';
import { pauseAfter } from '../../../machines/backoff.ts';
import type { DocumentId, OrganizationId } from '../../../machines/ids.ts';
import {
  MAIL_BACKOFF,
  MAIL_ENDED,
  MAIL_STATES,
  type MailAttempt,
  type MailContent,
  type MailContext,
  type MailInput,
  type MailState,
  mailMachine,
} from '../../../machines/portal/mail.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Tenant } from '../api/callers.ts';
import type {
  MailboxEntry,
  MailContentView,
  MailTextState,
  MailView,
  OperatorMails,
  PortalMails,
} from '../api/mails.ts';
import type { Mailer } from './mail-port.ts';

export const MAIL = actorKind<typeof mailMachine>('mail');

/** Number of mails, the newest, that a search looks at: each is a file to read. */
const MAX_SEARCHED = 500;

/** View of mails: [state, time of creation, id]. */
export const MAILS_BY_STATE = 'mails-by';

function mailRows({ id, state, context }: ActorView<MailContext>): readonly Row[] {
  const { content, createdAt, organizationId } = context;
  const all: readonly Row[] = [
    { view: 'mails', key: [createdAt, id], value: id },
    { view: MAILS_BY_STATE, key: [state, createdAt, id], value: id },
  ];
  if (!('document' in content)) return all;
  return [
    ...all,
    { view: 'document-mails', key: [content.document.id, createdAt, id], value: organizationId },
  ];
}

export const mailDefinition = defineActor(MAIL, {
  machine: mailMachine,
  version: 2,
  migrations: {
    // Version 1 had no rows by state.
    1: {
      migrate: (stored) => stored,
      facts: (mail) => ({ rows: mailRows(mail).filter(({ view: name }) => name !== MAILS_BY_STATE) }),
    },
  },
  rows: mailRows,
  counters: ({ state }) => ({ [`mails/${state}`]: 1 }),
  ends: ({ state }) => state === MAIL_ENDED,
});

export interface MailsDependencies {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly mailer: Pick<Mailer, 'contentOf' | 'hasContent'>;
  readonly sendTest: PortalMails['sendTest'];
}

/** Resolves once the mail is durable. A second mail of the same id changes nothing. */
export async function createMail(system: ActorSystem, id: string, input: MailInput): Promise<void> {
  const outcome = await system.create({ kind: MAIL, id }, input);
  if (outcome.accepted) return outcome.durable;
  if (outcome.reason !== 'exists') throw new Fatal('internal', `The mail was refused: ${outcome.reason}.`);
}

export class Mails implements PortalMails, OperatorMails {
  readonly #dependencies: MailsDependencies;

  constructor(dependencies: MailsDependencies) {
    this.#dependencies = dependencies;
  }

  /** One mail that is about no event of a document, such as a list of what is pending. */
  async create(organizationId: OrganizationId, content: MailContent): Promise<void> {
    const { system, clock, ids } = this.#dependencies;
    await createMail(system, ids.uuid(), { organizationId, content, at: clock.now() });
  }

  sendTest(...given: Parameters<PortalMails['sendTest']>): ReturnType<PortalMails['sendTest']> {
    return this.#dependencies.sendTest(...given);
  }

  async ofDocument(tenant: Tenant, id: DocumentId): Promise<readonly MailView[]> {
    const rows = await this.#dependencies.store.rows({ view: 'document-mails', prefix: [id], limit: 1000 });
    const own = rows.filter(({ value }) => value === tenant.organization.id);
    return this.#views(own.map(({ key }) => String(key[2])));
  }

  async newest(query: Parameters<PortalMails['newest']>[0]): Promise<Page<MailView>> {
    const { store } = this.#dependencies;
    const { status, limit } = query;
    const counters = await store.counters('mails/');
    const states = status === undefined ? MAIL_STATES : [status];
    const totalCount = states.reduce((sum, state) => sum + (counters[`mails/${state}`] ?? 0), 0);
    const offset = query.offset * limit;
    if (offset >= totalCount) return { items: [], totalCount };
    const range = status === undefined ? { view: 'mails' } : { view: MAILS_BY_STATE, prefix: [status] };
    const rows = await store.rows({ ...range, reverse: true, offset, limit });
    return { items: await this.#views(rows.map(({ value }) => String(value))), totalCount };
  }

  async get(id: string): Promise<MailView & { readonly failures: readonly MailAttempt[] }> {
    const actor = await this.#dependencies.system.read({ kind: MAIL, id });
    if (actor === undefined) throw new PortalRefusal('MailNotFound');
    return { ...view(actor), failures: actor.context.failures };
  }

  async textState({ id, status, createdAt }: MailView): Promise<MailTextState> {
    const { mailer } = this.#dependencies;
    if (status !== 'Sent' || mailer.hasContent === undefined) return 'none';
    return (await mailer.hasContent(id, createdAt)) ? 'kept' : 'removed';
  }

  async content(id: string): Promise<MailContentView | undefined> {
    const { createdAt } = await this.get(id);
    return this.#dependencies.mailer.contentOf?.(id, createdAt);
  }

  async mailbox(query: Parameters<OperatorMails['mailbox']>[0]): Promise<Page<MailboxEntry>> {
    const { status, search, limit, offset } = query;
    if (search === undefined) {
      const { items, totalCount } = await this.newest(query);
      return { items: await Promise.all(items.map((mail) => this.#withSubject(mail))), totalCount };
    }
    const needle = search.toLocaleLowerCase('en');
    const { items } = await this.newest({ status, limit: MAX_SEARCHED, offset: 0 });
    const entries = await Promise.all(items.map((mail) => this.#withSubject(mail)));
    const found = entries.filter(({ to, about, subject }) =>
      [to, about, subject ?? ''].some((text) => text.toLocaleLowerCase('en').includes(needle)),
    );
    return { items: found.slice(offset * limit, (offset + 1) * limit), totalCount: found.length };
  }

  async #withSubject(mail: MailView): Promise<MailboxEntry> {
    const content = await this.#dependencies.mailer.contentOf?.(mail.id, mail.createdAt);
    return { ...mail, subject: content?.subject ?? null };
  }

  async sendNow(id: string, operator?: string): Promise<void> {
    const outcome = await this.#dependencies.system.send(
      { kind: MAIL, id },
      { type: 'SEND_NOW', ...(operator !== undefined && { by: operator }) },
    );
    if (outcome.accepted) return outcome.durable;
    const { status } = await this.get(id);
    // It is being sent already.
    if (status === 'Queued') return;
    throw new PortalRefusal('MailAlreadySent');
  }

  async #views(ids: readonly string[]): Promise<readonly MailView[]> {
    const actors = await Promise.all(ids.map((id) => this.#dependencies.system.read({ kind: MAIL, id })));
    return actors.filter((actor) => actor !== undefined).map(view);
  }
}

function view({ id, state, context }: ActorView<MailContext>): MailView {
  const { content, createdAt, endedAt, reply, tries, failures, organizationId } = context;
  const last = failures.at(-1);
  return {
    id,
    organizationId,
    about: content.about,
    to: content.to.email,
    documentId: 'document' in content ? content.document.id : null,
    status: state as MailState,
    tries,
    createdAt,
    endedAt,
    reply,
    lastError: last === undefined || state === 'Sent' ? null : { code: last.code, message: last.message },
    nextTryAt: state === 'Waiting' && last ? last.at + pauseAfter(tries, MAIL_BACKOFF) : null,
  };
}
