/**
 * Carries out an erasure, piece by piece. A piece that is repeated after a crash finds what is left: a document is erased in
 * one step, after what is kept beside it, and says by which erasure.
 *
 * Source: docs/decisions/0640-erasure.md.
 */
import { createHmac } from 'node:crypto';
import { contextOf, Retryable } from '@sealwright/runtime';
import { erasureOf } from '@sealwright/runtime/history';
import type { ErasedDocument } from '../../../contracts/portal/retention/erasures.ts';
import type { DocumentId, OrganizationId } from '../../../machines/ids.ts';
import {
  type ErasureContext,
  type ErasurePlace,
  erasePeople,
} from '../../../machines/portal/accounts/erasure.ts';
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import {
  erasureCase,
  type IsPerson,
  type KnownPerson,
  knownIn,
  tellsOf,
} from '../../../machines/portal/documents/erasure.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { ERASURE } from '../accounts/organizations.ts';
import {
  CREATED_DOCUMENT_ROW,
  DOCUMENT,
  type DocumentActor,
  documentAddress,
} from '../document-records/document-index.ts';
import { pathOf } from '../folders/folders.ts';
import type { Mailer } from '../mails/mail-port.ts';
import { MAIL } from '../mails/mails.ts';
import { addressKey } from '../shared/mail-address.ts';
import { AUTHENTICATOR } from '../signing/authenticators.ts';
import { deliveryQueue, WEBHOOK_DELIVERY_QUEUE } from '../webhooks/deliveries.ts';
import type { WebhookRegistry } from '../webhooks/webhooks.ts';
import '../../shared/failures/document-fault-points.ts';

/** Rows of a piece, and documents at once; other work comes in between. */
const PIECE_ROWS = 512;
const BATCH_SIZE = 32;
/** Mails of one document. */
const MAX_MAILS = 10_000;

/** A person of an organization, as erasures know her: the digest of the address as equal ones are equal. */
export function personDigest(key: Buffer, organization: OrganizationId, email: string): string {
  return createHmac('sha256', key)
    .update(`${organization}/${addressKey(email)}`)
    .digest('base64url');
}

interface Needs {
  readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'faults'>;
  readonly registry: Pick<WebhookRegistry, 'list'>;
  readonly mailer: Pick<Mailer, 'remove'>;
  readonly key: Buffer;
}

interface Run extends Needs {
  readonly id: string;
  readonly erasure: ErasureContext;
  readonly isPerson: IsPerson;
}

export function erasePeopleHandler(needs: Needs) {
  const { actors, store } = needs.runtime;
  return erasePeople.handledBy({
    async run({ place }, { actor, signal }) {
      const erasure = (await actors.read(ERASURE, actor.id))?.context;
      if (erasure === undefined) return { type: 'PROGRESS', documents: [], mails: 0, next: null };
      const { organizationId, person } = erasure;
      const isPerson = (email: string) => personDigest(needs.key, organizationId, email) === person;
      const run = { ...needs, id: actor.id, erasure, isPerson };
      const { view, after } = place;
      const rows = await store.rows({ view, limit: PIECE_ROWS, ...(after && { after }) });
      const documents: ErasedDocument[] = [];
      let mails = 0;
      for (let from = 0; from < rows.length; from += BATCH_SIZE) {
        if (signal.aborted) throw new Retryable('stopping', 'The service stops; the rest is done later.');
        const batch = rows.slice(from, from + BATCH_SIZE);
        const found = await Promise.all(
          batch.map(({ value }) => {
            if (view === 'mails') return fromMail(run, String(value));
            const row = CREATED_DOCUMENT_ROW.read(value);
            return row.organizationId === organizationId ? fromDocument(run, row.id) : undefined;
          }),
        );
        for (const one of found) {
          if (one === undefined) continue;
          mails += one.mails;
          if (one.document !== undefined) documents.push(one.document);
        }
      }
      const next = nextPlace(place, rows.at(-1)?.key, rows.length);
      // Documents that are left may need it.
      if (next === null && erasure.refused + erasure.kept === 0) await endAuthenticators(run);
      return { type: 'PROGRESS', documents, mails, next };
    },
  });
}

function nextPlace(
  { view }: ErasurePlace,
  last: ErasurePlace['after'] | undefined,
  count: number,
): ErasurePlace | null {
  if (count === PIECE_ROWS && last != null) return { view, after: last };
  return view === 'mails' ? null : { view: 'mails', after: null };
}

interface Found {
  readonly document?: ErasedDocument;
  readonly mails: number;
}

async function fromDocument(run: Run, documentId: DocumentId): Promise<Found | undefined> {
  const { erasure, runtime, isPerson } = run;
  const { actors } = runtime;
  const document = await actors.read(DOCUMENT, documentId);
  if (document === undefined || document.context.creationDate > erasure.at) return undefined;
  const { context, state } = document;
  const { erasedBy, folderId, hold, accepted } = context;
  const known = knownIn(context, isPerson);
  if (known === undefined)
    return erasedBy?.id === run.id ? { document: outcomeOf(documentId, erasedBy), mails: 0 } : undefined;
  const decided = erasureCase(state, known.role, {
    isHeld: hold != null || (await pathOf(actors, folderId)).isHeld,
    isBusy: accepted.length > 0,
    keptFor: erasure.keptFor,
  });
  if (decided === 'kept') return { document: { documentId, outcome: 'Kept', code: null }, mails: 0 };
  if (decided === 'LegalHold' || decided === 'InvalidDocumentStatus')
    return { document: { documentId, outcome: 'Refused', code: decided }, mails: 0 };
  const mails = await removeBeside(run, document, known);
  await runtime.faults.at('portal.erasure.beside');
  const by = { id: run.id, withFiles: decided === 'erased-with-files' };
  if (await eraseIn(run, documentId, { known, by })) return { document: outcomeOf(documentId, by), mails };
  // It has changed meanwhile, or takes no messages: who asks again finds it.
  return { document: { documentId, outcome: 'Refused', code: 'InvalidDocumentStatus' }, mails };
}

function outcomeOf(documentId: DocumentId, { withFiles }: { readonly withFiles: boolean }): ErasedDocument {
  return { documentId, outcome: withFiles ? 'Deleted' : 'Erased', code: null };
}

/** One step: the record, the history, and the deletion of the files. Further ones for lines that were written meanwhile. */
async function eraseIn(
  { runtime: { actors, store } }: Run,
  id: DocumentId,
  { known, by }: { readonly known: KnownPerson; readonly by: NonNullable<DocumentContext['erasedBy']> },
): Promise<boolean> {
  const { people, emails, role } = known;
  const linesOf = async () => erasureOf(await store.journal(documentAddress(id)), tellsOf(known)) ?? null;
  let erasure = await linesOf();
  do {
    const message = { type: 'ERASE', people, emails, by, withTexts: role === 'acts', erasure } as const;
    if (!(await actors.send(DOCUMENT, id, message)).accepted) return false;
    erasure = await linesOf();
  } while (erasure !== null);
  return true;
}

/** Removes mails and calls of webhooks. */
async function removeBeside(
  run: Run,
  { context: { id, organization } }: DocumentActor,
  { role }: KnownPerson,
): Promise<number> {
  const { runtime, registry, isPerson } = run;
  const { actors, store } = runtime;
  let mails = 0;
  for (const { key } of await store.rows({ view: 'document-mails', prefix: [id], limit: MAX_MAILS })) {
    const mailId = String(key[2]);
    const content = (await actors.read(MAIL, mailId))?.context.content;
    if (content !== undefined && (role === 'acts' || isPerson(content.to.email)))
      mails += await removeMail(run, mailId);
  }
  if (role === 'reads') return mails;
  for (const webhook of await registry.list(organization.id))
    await actors.end(WEBHOOK_DELIVERY_QUEUE, deliveryQueue(webhook.id, id));
  return mails;
}

/** Removes a kept mail to the person, and notices to administrators that name documents. */
async function fromMail(run: Run, id: string): Promise<Found | undefined> {
  const mail = (await run.runtime.actors.read(MAIL, id))?.context;
  const { erasure, isPerson } = run;
  if (mail?.organizationId !== erasure.organizationId) return undefined;
  const isNotice = mail.content.about === 'deletions' && erasure.erased > 0;
  // A document may have asked for a mail before the erasure, and got it later.
  const stays =
    'document' in mail.content ? await isLeft(run, mail.content.document.id) : mail.createdAt > erasure.at;
  if (stays || !(isNotice || isPerson(mail.content.to.email))) return undefined;
  return { mails: await removeMail(run, id) };
}

/** True for a document that still knows the person: its mails stay with it. */
async function isLeft({ runtime, isPerson }: Run, id: DocumentId): Promise<boolean> {
  const document = await runtime.actors.read(DOCUMENT, id);
  return document !== undefined && knownIn(document.context, isPerson) !== undefined;
}

/** Ends the authenticator apps and passkeys of the person in the organization. */
async function endAuthenticators({ runtime: { actors, store }, erasure, isPerson }: Run): Promise<void> {
  const { kind } = AUTHENTICATOR;
  for (let after: string | undefined; ; ) {
    const found = await store.actors({ kind, limit: PIECE_ROWS, ...(after !== undefined && { after }) });
    for (const actor of found) {
      const context = contextOf(AUTHENTICATOR, actor);
      if (context?.organizationId === erasure.organizationId && isPerson(context.email))
        await actors.end(AUTHENTICATOR, actor.address.id);
    }
    after = found.at(-1)?.address.id;
    if (found.length < PIECE_ROWS) return;
  }
}

async function removeMail({ runtime: { actors }, mailer }: Run, id: string): Promise<number> {
  const mail = await actors.read(MAIL, id);
  if (mail === undefined) return 0;
  await mailer.remove?.(id, mail.context.createdAt);
  return (await actors.end(MAIL, id)).accepted ? 1 : 0;
}
