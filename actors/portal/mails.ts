/**
 * The actors of e-mails, and what can be seen of them. Implements `PortalMails` and `OperatorMails`.
 *
 * Views: `mails` [createdAt, id] → id · `mails-by` [state, createdAt, id] → id · `document-mails` [documentId, createdAt, id] → organization's id;
 * counters `mails/<state>`.
 */
import type { DocumentId, OrganizationId } from '../../machines/ids.ts';
import {
  FIRST_PAUSE,
  LONGEST_PAUSE,
  MAIL_ENDED,
  MAIL_STATES,
  type MailContent,
  type MailContext,
  type MailInput,
  type MailState,
  type MailTry,
  mailMachine,
} from '../../machines/mail.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import {
  type ActorDefinition,
  type ActorStore,
  type ActorSystem,
  type ActorView,
  type Clock,
  Fatal,
  type Ids,
  type Json,
  type Row,
} from '../../runtime/index.ts';
import type { MailTextState, MailView, OperatorMails, Page, PortalMails, Tenant } from './api.ts';
import type { Mailer } from './mail-port.ts';

export const MAIL = 'mail';

const BY_STATE = 'mails-by';

function mailRows({ id, state, context }: ActorView): readonly Row[] {
  const { content, createdAt, organizationId } = context as MailContext;
  const all: readonly Row[] = [
    { view: 'mails', key: [createdAt, id], value: id },
    { view: BY_STATE, key: [state, createdAt, id], value: id },
  ];
  if (content.about === 'pending-list') return all;
  return [
    ...all,
    { view: 'document-mails', key: [content.document.id, createdAt, id], value: organizationId },
  ];
}

export const mailDefinition: ActorDefinition = {
  kind: MAIL,
  machine: mailMachine,
  version: 2,
  migrations: {
    // Version 1 had no rows by state.
    1: {
      migrate: (stored) => stored,
      facts: (mail) => ({ rows: mailRows(mail).filter(({ view: name }) => name !== BY_STATE) }),
    },
  },
  rows: mailRows,
  counters: ({ state }) => ({ [`mails/${state}`]: 1 }),
  ends: ({ state }) => state === MAIL_ENDED,
};

export interface MailsParts {
  readonly system: () => ActorSystem;
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly mailer: Pick<Mailer, 'textOf' | 'hasText'>;
}

/** Resolves once the mail will be sent whatever happens to this process. A second one of the same id changes nothing. */
export async function createMail(system: ActorSystem, id: string, input: MailInput): Promise<void> {
  // What is stored is JSON, whatever its type calls itself.
  const outcome = await system.create({ kind: MAIL, id }, input as unknown as Json);
  if (outcome.accepted) return outcome.durable;
  if (outcome.because !== 'exists') throw new Fatal('internal', `The mail was refused: ${outcome.because}.`);
}

export class Mails implements PortalMails, OperatorMails {
  readonly #parts: MailsParts;

  constructor(parts: MailsParts) {
    this.#parts = parts;
  }

  /** One mail that is about no event of a document, such as a list of what is pending. */
  async post(organizationId: OrganizationId, content: MailContent): Promise<void> {
    const { system, clock, ids } = this.#parts;
    await createMail(system(), ids.uuid(), { organizationId, content, at: clock.now() });
  }

  async ofDocument(tenant: Tenant, id: DocumentId): Promise<readonly MailView[]> {
    const rows = await this.#parts.store.rows({ view: 'document-mails', prefix: [id], limit: 1000 });
    const own = rows.filter(({ value }) => value === tenant.organization.id);
    return this.#views(own.map(({ key }) => String(key[2])));
  }

  async newest(query: Parameters<PortalMails['newest']>[0]): Promise<Page<MailView>> {
    const { store } = this.#parts;
    const { status, limit } = query;
    const counters = await store.counters('mails/');
    const states = status === undefined ? MAIL_STATES : [status];
    const totalCount = states.reduce((sum, state) => sum + (counters[`mails/${state}`] ?? 0), 0);
    const offset = query.offset * limit;
    if (offset >= totalCount) return { items: [], totalCount };
    const range = status === undefined ? { view: 'mails' } : { view: BY_STATE, prefix: [status] };
    const rows = await store.rows({ ...range, reverse: true, offset, limit });
    return { items: await this.#views(rows.map(({ value }) => String(value))), totalCount };
  }

  async get(id: string): Promise<MailView & { readonly failures: readonly MailTry[] }> {
    const actor = await this.#parts.system().read({ kind: MAIL, id });
    if (actor === undefined) throw new PortalRefusal('MailNotFound');
    return { ...view(actor), failures: (actor.context as MailContext).failures };
  }

  async textState({ id, status, createdAt }: MailView): Promise<MailTextState> {
    const { mailer } = this.#parts;
    if (status !== 'Sent' || mailer.hasText === undefined) return 'none';
    return (await mailer.hasText(id, createdAt)) ? 'kept' : 'removed';
  }

  async text(id: string): Promise<string | undefined> {
    const { createdAt } = await this.get(id);
    return this.#parts.mailer.textOf?.(id, createdAt);
  }

  async sendNow(id: string): Promise<void> {
    const outcome = await this.#parts.system().tell({ kind: MAIL, id }, { type: 'SEND_NOW' });
    if (outcome.accepted) return outcome.durable;
    const { status } = await this.get(id);
    // It is being sent already.
    if (status === 'Queued') return;
    throw new PortalRefusal('MailAlreadySent');
  }

  async #views(ids: readonly string[]): Promise<readonly MailView[]> {
    const actors = await Promise.all(ids.map((id) => this.#parts.system().read({ kind: MAIL, id })));
    return actors.filter((actor) => actor !== undefined).map(view);
  }
}

function view({ id, state, context }: ActorView): MailView {
  const { content, createdAt, endedAt, reply, tries, failures, organizationId } = context as MailContext;
  const last = failures.at(-1);
  return {
    id,
    organizationId,
    about: content.about,
    to: content.to.email,
    documentId: content.about === 'pending-list' ? null : content.document.id,
    status: state as MailState,
    tries,
    createdAt,
    endedAt,
    reply,
    lastError: last === undefined || state === 'Sent' ? null : { code: last.code, message: last.message },
    nextTryAt: state === 'Waiting' && last ? last.at + pauseOf(tries) : null,
  };
}

function pauseOf(tries: number): number {
  return Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (tries - 1));
}
