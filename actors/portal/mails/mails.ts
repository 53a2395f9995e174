/**
 * The actors of e-mails, and what can be seen of them.
 *
 * Views: `messages` [organization, phone, createdAt, id] → null ·
 * `mails` [createdAt, id] → id · `mails-by` [state, createdAt, id] → id · `document-mails` [documentId, createdAt, id] → organization's id;
 * counters `mails/<state>`.
 */
import {
  type ActorView,
  accepted,
  type Calls,
  defineActor,
  Fatal,
  Retryable,
  type Row,
} from '@sealwright/runtime';
import { MAIL_STATUSES, type MailStatus } from '../../../contracts/deliveries.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import type { Mail, MailDetail } from '../../../contracts/portal/mails.ts';
import { pauseAfter } from '../../../machines/backoff.ts';
import type { DocumentId, Millis, OrganizationId } from '../../../machines/ids.ts';
import type { TrailAction } from '../../../machines/portal/documents/document-context.ts';
import {
  isUnrecorded,
  isUrgent,
  MAIL_BACKOFF,
  MAIL_ENDED,
  type MailContent,
  type MailContext,
  type MailInput,
  mailMachine,
  notify,
  reportMail,
  sendMail,
} from '../../../machines/portal/mail.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { pageOf } from '../../shared/lists/list.ts';
import type { Tenant } from '../api/callers.ts';
import { DOCUMENT } from '../document-records/document-index.ts';
import { derivedId } from '../shared/effect-ids.ts';
import type { Mailer } from './mail-port.ts';

/** Writes what became of a mail into the history of its documents. A repeated effect sends the same message id, which a document takes once. */
export const reportMailHandler = reportMail.handledBy({
  async run({ content, isDelivered, answer }, { key, runtime }) {
    if (isUnrecorded(content)) return null;
    const items = content.about === 'pending-list' ? content.documents : [content, ...(content.others ?? [])];
    const { name, email } = content.to;
    const message = content.about === 'pending-list' ? undefined : content.message;
    for (const [index, { document, flowActionId, userId }] of items.entries()) {
      const sent = runtime.send(
        DOCUMENT,
        document.id,
        {
          type: 'RECORD',
          action: actionOf(content.about, isDelivered, message !== undefined),
          principal: { by: name ?? message?.phone ?? email, userId, ipAddress: null, userAgent: null },
          detail: `${content.about}${message === undefined ? '' : ` by ${message.channel}`}: ${answer}`,
          flowActionId,
          emailAddress: message === undefined ? email : null,
        },
        { id: `${key}/${index}` },
      );
      await accepted(sent, ({ reason }) =>
        reason === 'stopped'
          ? new Retryable('document.stopped', `The document ${document.id} takes no messages.`)
          : undefined,
      );
    }
    return null;
  },
});

function actionOf(about: MailContent['about'], isDelivered: boolean, isMessage: boolean): TrailAction {
  if (!isDelivered) return isMessage ? 'message-refused' : 'mail-refused';
  return about === 'code' ? 'code-sent' : 'mail-delivered';
}

/**
 * Creates one mail actor per notice of a document; each is sent and retried on its own. Needs no step, since a repetition does no harm: each mail has an id of its own. Waits until the step is durable: a
 * power cut must not undo a step that a mail reports.
 */
export const notifyHandler = notify.handledBy({
  async run({ notices }, { key, runtime, clock }) {
    const at = clock.now();
    await Promise.all(
      notices.map((content, index) =>
        createMail(runtime, derivedId('notice', key, index), {
          organizationId: ('document' in content ? content.document : content).organizationId,
          content,
          at,
        }),
      ),
    );
    return null;
  },
});

/** Number of mails, the newest, that a search looks at: each is a file to read. */
const MAX_SEARCHED = 500;

/** Mails that one call sends again, and mails read at once. */
const MAX_SENT_AGAIN = 10_000;
const BATCH_SIZE = 100;

/** View of mails: [state, time of creation, id]. */
export const MAILS_BY_STATE = 'mails-by';

/** In the place of a telephone in the view `messages`: those to all telephones of the organization. */
export const ALL_PHONES = '';

function mailRows({ id, state, context }: ActorView<MailContext>): readonly Row[] {
  const { content, createdAt, organizationId } = context;
  const all: readonly Row[] = [
    { view: 'mails', key: [createdAt, id], value: id },
    { view: MAILS_BY_STATE, key: [state, createdAt, id], value: id },
  ];
  if (!('document' in content)) return all;
  const phone = content.message?.phone;
  const documents = new Set([content, ...(content.others ?? [])].map(({ document }) => document.id));
  return [
    ...all,
    ...(phone === undefined
      ? []
      : [phone, ALL_PHONES].map((to) => ({
          view: 'messages',
          key: [organizationId, to, createdAt, id],
          value: null,
        }))),
    ...[...documents].map((document) => ({
      view: 'document-mails',
      key: [document, createdAt, id],
      value: organizationId,
    })),
  ];
}

/** Messages had a row by their telephone alone. */
function rowsOfVersion2(mail: ActorView<MailContext>): readonly Row[] {
  return mailRows(mail).filter(({ view, key }) => view !== 'messages' || key[1] !== ALL_PHONES);
}

export const MAIL = defineActor('mail', {
  machine: mailMachine,
  effects: [sendMail, reportMail],
  version: 3,
  migrations: {
    // Version 1 had no rows by state.
    1: {
      migrate: (stored) => stored,
      facts: (mail) => ({ rows: rowsOfVersion2(mail).filter(({ view: name }) => name !== MAILS_BY_STATE) }),
    },
    2: { migrate: (stored) => stored, facts: (mail) => ({ rows: rowsOfVersion2(mail) }) },
  },
  rows: mailRows,
  counters: ({ state }) => ({ [`mails/${state}`]: 1 }),
  ends: ({ state }) => state === MAIL_ENDED,
});

/** Times of the messages to a telephone, or to `ALL_PHONES`, after a time, oldest first, at most `most`. */
export async function messagesSince(
  store: Pick<ServiceRuntime['store'], 'rows'>,
  organization: OrganizationId,
  { phone, time, most }: { readonly phone: string; readonly time: Millis; readonly most: number },
): Promise<readonly Millis[]> {
  const prefix = [organization, phone];
  const rows = await store.rows({ view: 'messages', prefix, after: [...prefix, time], limit: most });
  return rows.map(({ key }) => Number(key[2]));
}

/** True when the message is one of the first `most` to its telephone, or to `ALL_PHONES`, in the day before it: calls at once may ask for more. */
export async function isAmongFirst(
  store: Pick<ServiceRuntime['store'], 'rows'>,
  id: string,
  {
    mail: { organizationId, createdAt },
    phone,
    most,
  }: {
    readonly mail: Pick<MailContext, 'organizationId' | 'createdAt'>;
    readonly phone: string;
    readonly most: number;
  },
): Promise<boolean> {
  const prefix = [organizationId, phone];
  const after = [...prefix, createdAt - 24 * 3_600_000];
  const rows = await store.rows({ view: 'messages', prefix, after, limit: most });
  return rows.length < most || rows.some(({ key }) => key[3] === id);
}

/** Resolves once the mail is durable. A second mail of the same id changes nothing. */
export async function createMail(actors: Calls, id: string, input: MailInput): Promise<void> {
  await accepted(actors.create(MAIL, id, input), ({ reason }) =>
    reason === 'exists' ? undefined : new Fatal('internal', `The mail was refused: ${reason}.`),
  );
}

/** Outcome of a test mail. */
interface TestMailResult {
  readonly isAccepted: boolean;
  /** Code of the failure; null = it was accepted. */
  readonly code: string | null;
  /** The relay's answer, or the error that prevented one. */
  readonly answer: string;
}

export type TestMailSender = (
  organization: OrganizationId,
  to: { readonly name: string; readonly email: string },
) => Promise<TestMailResult>;

/** `none`: it was not written to a folder; `removed`: it was written, and its file was removed. */
export type MailTextState = 'none' | 'stored' | 'removed';

/** A mail in the development mailbox. */
export interface MailboxEntry extends Mail {
  /** Null when its file is not there: with a relay, before it is sent, and after its removal. */
  readonly subject: string | null;
}

interface MailQuery {
  readonly status?: MailStatus | undefined;
  readonly limit: number;
  /** Pages from 0. */
  readonly offset: number;
}

/** For operators only: the mails hold links and codes that allow signing. */
export type OperatorMails = Pick<
  Mails,
  'get' | 'sendNow' | 'sendFailedAgain' | 'mailbox' | 'textState' | 'content'
>;

export class Mails {
  /** Sends a test mail now. */
  readonly sendTest: TestMailSender;

  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>,
    private readonly mailer: Pick<Mailer, 'contentOf' | 'hasContent'>,
    sendTest: TestMailSender,
  ) {
    this.sendTest = sendTest;
  }

  /** One mail that is about no event of a document, such as a list of what is pending. */
  async create(organizationId: OrganizationId, content: MailContent): Promise<void> {
    const { actors, clock, ids } = this.runtime;
    await createMail(actors, ids.uuid(), { organizationId, content, at: clock.now() });
  }

  /** Oldest first; empty for documents of other organizations. */
  async ofDocument(tenant: Tenant, id: DocumentId): Promise<readonly Mail[]> {
    const rows = await this.runtime.store.rows({ view: 'document-mails', prefix: [id], limit: 1000 });
    const own = rows.filter(({ value }) => value === tenant.organization.id);
    const mails = await this.#views(own.map(({ key }) => String(key[2])));
    // Of a mail about several documents, this one.
    return mails.map((mail) => ({ ...mail, documentId: id }));
  }

  /** Of all organizations, newest first, for operators. */
  async newest(query: MailQuery): Promise<Page<Mail>> {
    const { store } = this.runtime;
    const { status, limit } = query;
    const counters = await store.counters('mails/');
    const states: readonly MailStatus[] = status === undefined ? MAIL_STATUSES : [status];
    const totalCount = states.reduce<number>((sum, state) => sum + (counters[`mails/${state}`] ?? 0), 0);
    const range = status === undefined ? { view: 'mails' } : { view: MAILS_BY_STATE, prefix: [status] };
    const list = {
      ranges: [range],
      total: totalCount,
      itemOf: ({ value }: Row) => String(value),
    };
    const part = { newestFirst: true, offset: query.offset * limit, limit };
    const { items } = await pageOf(store, list, part);
    return { items: await this.#views(items), totalCount };
  }

  /** With its last tries, oldest first. Texts, links and codes are not kept. Refusals: `MailNotFound`. */
  async get(id: string): Promise<MailDetail> {
    const actor = await this.runtime.actors.read(MAIL, id).catch((error) => {
      // An id from an address of the API, which no actor can have: it is longer than a key.
      if (error.code === 'actor.address-malformed') return undefined;
      throw error;
    });
    if (actor === undefined) throw new PortalRefusal('MailNotFound');
    return {
      ...view(actor),
      failures: actor.context.failures.map(({ at, ...failure }) => ({ date: at, ...failure })),
    };
  }

  /** `kept` if it can be read; always `none` with a relay. */
  async textState({ id, status, creationDate }: Mail): Promise<MailTextState> {
    const mailer = this.mailer;
    if (status !== 'Sent' || mailer.hasContent === undefined) return 'none';
    return (await mailer.hasContent(id, creationDate)) ? 'stored' : 'removed';
  }

  /** Content of the mail; undefined if it has none or it was removed. Refusals: `MailNotFound`. */
  async content(id: string): ReturnType<NonNullable<Mailer['contentOf']>> {
    const { creationDate } = await this.get(id);
    return this.mailer.contentOf?.(id, creationDate);
  }

  /** Newest first. `search`: text in recipient, kind or subject; looks at the newest 500. */
  async mailbox(query: MailQuery & { readonly search?: string | undefined }): Promise<Page<MailboxEntry>> {
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

  async #withSubject(mail: Mail): Promise<MailboxEntry> {
    const content = await this.mailer.contentOf?.(mail.id, mail.creationDate);
    return { ...mail, subject: content?.subject ?? null };
  }

  /**
   * Sends a mail that waits or failed now. Refusals: `MailNotFound`, `MailAlreadySent`.
   * @param operator named in its history; absent for callers of the portal
   */
  async sendNow(id: string, operator?: string): Promise<void> {
    await this.get(id);
    const event = { type: 'SEND_NOW', ...(operator !== undefined && { by: operator }) } as const;
    if ((await this.runtime.actors.send(MAIL, id, event)).accepted) return;
    const { status } = await this.get(id);
    // It is being sent already.
    if (status === 'Queued') return;
    throw new PortalRefusal('MailAlreadySent');
  }

  /**
   * Sends mails again that failed at a time or later, oldest first. Codes and links to sign in are left out: they are of
   * no use any more. `complete`: false when the limit of one call was reached before the last one.
   * @param operator as of `sendNow`
   */
  async sendFailedAgain(
    since: Millis,
    operator?: string,
  ): Promise<{ readonly count: number; readonly complete: boolean }> {
    const { store, actors } = this.runtime;
    const event = { type: 'SEND_NOW', ...(operator !== undefined && { by: operator }) } as const;
    const sendAgain = async (id: string) => {
      const mail = await actors.read(MAIL, id);
      if (mail?.state !== 'Failed' || isUrgent(mail.context.content.about)) return false;
      if ((mail.context.endedAt ?? 0) < since) return false;
      return (await actors.send(MAIL, id, event)).accepted;
    };
    const prefix = ['Failed'];
    // All of them are read: rows have the time of creation, and a mail may have failed weeks later.
    let after: Row['key'] = prefix;
    let count = 0;
    while (count < MAX_SENT_AGAIN) {
      const rows = await store.rows({ view: MAILS_BY_STATE, prefix, after, limit: BATCH_SIZE });
      const sent = await Promise.all(rows.map(({ value }) => sendAgain(String(value))));
      count += sent.filter(Boolean).length;
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH_SIZE) return { count, complete: true };
      after = last.key;
    }
    return { count, complete: false };
  }

  async #views(ids: readonly string[]): Promise<readonly Mail[]> {
    const actors = await Promise.all(ids.map((id) => this.runtime.actors.read(MAIL, id)));
    return actors.filter((actor) => actor !== undefined).map(view);
  }
}

function view({ id, state, context }: ActorView<MailContext>): Mail {
  const { content, createdAt, endedAt, reply, tries, failures, organizationId } = context;
  const last = failures.at(-1);
  return {
    id,
    organizationId,
    about: content.about,
    to: ('message' in content ? content.message?.phone : undefined) ?? content.to.email,
    documentId: 'document' in content ? content.document.id : null,
    status: state as MailStatus,
    tries,
    creationDate: createdAt,
    endDate: endedAt,
    reply,
    lastError: last === undefined || state === 'Sent' ? null : { code: last.code, message: last.message },
    nextTryDate: state === 'Waiting' && last ? last.at + pauseAfter(tries, MAIL_BACKOFF) : null,
  };
}
