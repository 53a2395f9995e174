/**
 * Rows, unique names and counters of documents. Rows hold all members that filters read, so that a list never loads a
 * document to leave it out.
 *
 * - `documents`         [organization, order] → DocumentRow           all except deleted ones;
 * - `documents-by`      [organization, list status, order] → same       by status;
 * - `documents-in`      [organization, folder, order] → same            by folder, `NO_FOLDER` for those in none;
 * - `documents-of`      [organization, participant, order] → ParticipantRow   by participant (`participantKey`);
 * - `documents-external` [organization, external id, order] → DocumentRow   by the caller's own id (`externalIdKey`);
 * - `documents-expiring` [organization, last moment, order] → DocumentRow       pending ones with a last day;
 * - `documents-deleted` [organization, order] → DocumentRow           with the status they had;
 * - `documents-stuck`   [since, order] → StuckDocumentRow                     accepted work that failed and is tried again;
 * - `documents-created` [order] → CreatedDocumentRow                          all, deleted ones included, for reports;
 * - `documents-confirming` [organization, flow action] → id of the document; pending actions that need a code by telephone;
 * - `documents-signed`  [organization, name of a signature in its file] → id of the document that made it;
 * - `retention`         held, planned to be deleted by a rule, or deleted by one: `../shared/retention-rows.ts`;
 * - `documents-waiting` [mailbox, order] → WaitingRow            of all organizations: pending, and asked by mail.
 *
 * Counters: `documents/<organization>/<list status>`, `documents-in/<organization>/<folder>/<list status>`,
 * `documents-made/<day>/<document or envelope>` (deleted ones too), `documents-stuck`, `blob/<sha256>`,
 * `generation/<id>/<made, open or concluded>` (as made, deleted ones too).
 *
 * Source: docs/portal-values.md §§12, 16, 18.
 */

import {
  type ActorAddress,
  type ActorStore,
  type ActorView,
  defineActor,
  jsonType,
  type Row,
} from '@sealwright/runtime';
import type { RetentionList } from '../../../contracts/portal/retention/retention.ts';
import {
  type DocumentStatus,
  documentStatusesIn,
  type ListedStatus,
} from '../../../contracts/portal/words.ts';
import { DAY_MS } from '../../../contracts/times.ts';
import type { DocumentId, FlowActionId, Millis, OrganizationId } from '../../../machines/ids.ts';
import { documentMachine } from '../../../machines/portal/documents/document.ts';
import type { DocumentContext, DocumentState } from '../../../machines/portal/documents/document-context.ts';
import { DOCUMENT_EFFECTS } from '../../../machines/portal/documents/document-effects.ts';
import { isSigning, requestedUsers, usersOf } from '../../../machines/portal/documents/document-flow.ts';
import type { BlobRef, Participant } from '../../../machines/portal/portal-types.ts';
import { foldCase } from '../../shared/tables/texts.ts';
import { derivedId } from '../shared/effect-ids.ts';
import { addressKey } from '../shared/mail-address.ts';
import { retentionCounters, retentionRow } from '../shared/retention-rows.ts';
import { blobCounters, countOne } from '../uploads/blobs.ts';
import { isAskedByMail } from './signing-turns.ts';

/** Key of the documents that are in no folder. */
export const NO_FOLDER = '-';

/** Counts documents with accepted work that failed and is being tried again. */
const STUCK_DOCUMENT_COUNTER = 'documents-stuck';

/** A document as its definition sees it. */
export type DocumentActor = ActorView<DocumentContext>;

/** Name, identifier, e-mail, phone. */
export type PersonRow = readonly [string | null, string | null, string | null, string | null];

export interface DocumentRow {
  readonly id: DocumentId;
  readonly name: string;
  readonly key: string;
  readonly creator: string;
  readonly status: ListedStatus;
  readonly folder: string | null;
  readonly type: string | null;
  /** The caller's own id; absent = none. */
  readonly externalId?: string;
  /** Label and value of each tag. */
  readonly tags: readonly (readonly [string | null, string])[];
  /** True: the document has signers, not only approvers. */
  readonly signs: boolean;
  /** Participants; `[who, true]` = a pending signature. */
  readonly people: readonly (readonly [PersonRow, boolean])[];
}

/** The same for one participant. */
export interface ParticipantRow extends Omit<DocumentRow, 'people'> {
  /** A signature of this participant is pending. */
  readonly pending: boolean;
}

/** Fields of reports. */
export interface CreatedDocumentRow {
  readonly id: DocumentId;
  readonly name: string;
  readonly organizationId: OrganizationId;
  readonly organizationName: string;
  readonly createdBy: string;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  /** For a deleted document, the status before its deletion. */
  readonly status: DocumentStatus;
  readonly isDeleted: boolean;
  readonly isEnvelope: boolean;
  readonly signatures: number;
}

/** True for a document with accepted work in progress. */
export interface StuckDocumentRow {
  readonly id: DocumentId;
  readonly organizationId: OrganizationId;
  readonly code: string;
}

export function documentAddress(id: DocumentId): ActorAddress {
  return { kind: DOCUMENT.kind, id };
}

/** Of the document that is made from file `index` of the request with this seed. */
export function seededId(seed: string, index: number): DocumentId {
  return derivedId('document', seed, index) as DocumentId;
}

/** Unique name of a validation key. @param key folded: `foldedKey` */
export function documentKeyName(key: string): string {
  return `document-key:${key}`;
}

/** A validation key as people write it: without regard to case, dashes and spaces. Source: docs/portal-values.md §17. */
export function foldedKey(text: string): string {
  return text.replace(/[\s\p{Pd}]/gu, '').toUpperCase();
}

/** Maximum length of a text in a key in bytes; longer texts are cut and compared in their rows. */
const MAX_KEY_TEXT_LENGTH = 300;

/** Key of a participant in `documents-of`. */
export function participantKey(by: 'Email' | 'Identifier', text: string): string {
  return boundedKey(`${by === 'Email' ? 'e' : 'i'}:${foldCase(by === 'Email' ? addressKey(text) : text)}`);
}

/** Key of an external id in `documents-external`. */
export function externalIdKey(externalId: string): string {
  return boundedKey(`x:${externalId}`);
}

function boundedKey(text: string): string {
  return Buffer.byteLength(text) <= MAX_KEY_TEXT_LENGTH
    ? text
    : Buffer.from(text)
        .subarray(0, MAX_KEY_TEXT_LENGTH)
        .toString('latin1')
        .replace(/[^ -~]/g, '?');
}

function listStatus(status: DocumentStatus): ListedStatus {
  return status === 'FlowConcluded' ? 'Pending' : status;
}

/** The status of a document, or the one it had before it was deleted. */
export function statusOf({ state, context }: Pick<DocumentActor, 'state' | 'context'>): DocumentStatus {
  return (state as DocumentState) === 'Deleted'
    ? (context.statusBefore ?? 'Pending')
    : (state as DocumentStatus);
}

function isDeleted({ state }: DocumentActor): boolean {
  return state === 'Deleted';
}

const DOCUMENT_ROW = jsonType<DocumentRow>();
export const CREATED_DOCUMENT_ROW = jsonType<CreatedDocumentRow>();
const WAITING_ROW = jsonType<WaitingRow>();
const PARTICIPANT_ROW = jsonType<Omit<DocumentRow, 'people'> & { readonly pending: boolean }>();

export function documentRowOf(value: Row['value']): DocumentRow {
  return DOCUMENT_ROW.read(value);
}

function documentRows(document: DocumentActor): readonly Row[] {
  const { context } = document;
  const { order } = context;
  const organization = context.organization.id;
  const created: Row = {
    view: 'documents-created',
    key: [order],
    value: CREATED_DOCUMENT_ROW.write(createdDocumentRow(document)),
  };
  const facts = documentRow(document);
  const value = DOCUMENT_ROW.write(facts);
  if (isDeleted(document))
    return [
      created,
      { view: 'documents-deleted', key: [organization, order], value },
      ...retentionRows(document),
    ];
  return [
    created,
    ...retentionRows(document),
    { view: 'documents', key: [organization, order], value },
    { view: 'documents-by', key: [organization, facts.status, order], value },
    { view: 'documents-in', key: [organization, facts.folder ?? NO_FOLDER, order], value },
    ...externalIdRows(document, value),
    ...participantRows(document, facts),
    ...stuckRows(document),
    ...signatureRows(document),
    ...confirmingRows(document),
    ...expiringRows(document, value),
    ...waitingRows(document),
  ];
}

function retentionRows({ state, context }: DocumentActor): readonly Row[] {
  const { id, organization, folderId: folder, hold, deletion, updateDate } = context;
  const rowOf = (list: RetentionList, at: Millis, pass?: number) =>
    retentionRow([organization.id, list, at, id], {
      type: 'Document',
      folder,
      ...(pass !== undefined && { pass }),
    });
  const isGone = state === 'Deleted';
  return [
    ...(hold == null ? [] : [rowOf('Held', hold.at)]),
    ...(deletion == null
      ? []
      : [isGone ? rowOf('Deleted', updateDate) : rowOf('Planned', deletion.at, deletion.pass)]),
  ];
}

function externalIdRows({ context }: DocumentActor, value: Row['value']): readonly Row[] {
  const { externalId, organization, order } = context;
  if (externalId === undefined) return [];
  return [{ view: 'documents-external', key: [organization.id, externalIdKey(externalId), order], value }];
}

const SIGNATURES_VIEW = 'documents-signed';

function signatureRows({ context }: DocumentActor): readonly Row[] {
  const { id, organization, made } = context;
  return made.flatMap(({ fieldName }) =>
    fieldName === null
      ? []
      : [{ view: SIGNATURES_VIEW, key: [organization.id, fieldName], value: { documentId: id } }],
  );
}

/** The document of the organization that made the signature of this name; undefined = none. */
export async function documentOfSignature(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
  name: string,
): Promise<DocumentId | undefined> {
  const [row] = await store.rows({ view: SIGNATURES_VIEW, prefix: [organization, name], limit: 1 });
  return (row?.value as { readonly documentId?: DocumentId } | undefined)?.documentId;
}

const CONFIRMING_VIEW = 'documents-confirming';

function confirmingRows({ state, context }: DocumentActor): readonly Row[] {
  if (state !== 'Pending') return [];
  const value = { documentId: context.id };
  return context.actions.flatMap(({ id, status, confirmations }) =>
    status === 'Pending' && confirmations.length > 0
      ? [{ view: CONFIRMING_VIEW, key: [context.organization.id, id], value }]
      : [],
  );
}

/** The document of the organization with this pending action, which needs a code by telephone; undefined = none. */
export async function documentOfConfirmation(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
  action: FlowActionId,
): Promise<DocumentId | undefined> {
  const [row] = await store.rows({ view: CONFIRMING_VIEW, prefix: [organization, action], limit: 1 });
  return (row?.value as { readonly documentId?: DocumentId } | undefined)?.documentId;
}

const WAITING_VIEW = 'documents-waiting';

/** A document that waits for a mailbox. */
interface WaitingRow {
  readonly documentId: DocumentId;
  /** As the sender has spelled it. */
  readonly email: string;
}

function waitingRows({ state, context }: DocumentActor): readonly Row[] {
  if (state !== 'Pending') return [];
  const { id, order, actions } = context;
  const mailboxes = new Map<string, string>();
  for (const action of actions) {
    if (action.status !== 'Pending') continue;
    for (const user of requestedUsers(action)) {
      if (user.email !== null && isAskedByMail(context, { action, user }))
        mailboxes.set(participantKey('Email', user.email), user.email);
    }
  }
  return [...mailboxes].map(([mailbox, email]) => {
    const value = { documentId: id, email } satisfies WaitingRow;
    return { view: WAITING_VIEW, key: [mailbox, order], value };
  });
}

/** Documents of all organizations that may wait for a mailbox, oldest first. @param after order number of the last one known */
export async function waitingFor(
  store: Pick<ActorStore, 'rows'>,
  email: string,
  { limit, after }: { readonly limit: number; readonly after?: number | undefined },
): Promise<readonly (WaitingRow & { readonly order: number })[]> {
  const prefix = [participantKey('Email', email)];
  const from = after === undefined ? {} : { after: [...prefix, after] };
  const rows = await store.rows({ view: WAITING_VIEW, prefix, limit, ...from });
  return rows.map(({ key, value }) => ({ ...WAITING_ROW.read(value), order: key[1] as number }));
}

export const EXPIRING_VIEW = 'documents-expiring';

function expiringRows({ state, context }: DocumentActor, value: Row['value']): readonly Row[] {
  const { expirationDate, organization, order } = context;
  if (state !== 'Pending' || expirationDate === null) return [];
  return [{ view: EXPIRING_VIEW, key: [organization.id, expirationDate, order], value }];
}

function stuckRows({ context }: DocumentActor): readonly Row[] {
  const { id, organization, order, processingError } = context;
  if (processingError === null) return [];
  const value: StuckDocumentRow = { id, organizationId: organization.id, code: processingError.code };
  return [{ view: 'documents-stuck', key: [processingError.since, order], value: { ...value } }];
}

function createdDocumentRow(document: DocumentActor): CreatedDocumentRow {
  const { id, name, organization, createdBy, creationDate, updateDate, isEnvelope, made } = document.context;
  return {
    id,
    name,
    creationDate,
    updateDate,
    isEnvelope,
    organizationId: organization.id,
    organizationName: organization.name,
    createdBy: createdBy.name,
    status: statusOf(document),
    isDeleted: isDeleted(document),
    signatures: made.filter(({ kind }) => kind !== 'approval').length,
  };
}

export function documentRow(document: Pick<DocumentActor, 'state' | 'context'>): DocumentRow {
  const { id, name, key, createdBy, folderId, type, tags, actions, externalId } = document.context;
  const isOpen = document.state === 'Pending';
  const people = new Map<string, [Participant, boolean]>();
  for (const action of actions) {
    const requested =
      isOpen && action.status === 'Pending' && isSigning(action) ? requestedUsers(action) : [];
    for (const user of usersOf(action))
      people.set(user.id, [user, requested.some((one) => one.id === user.id)]);
  }
  const row: DocumentRow = {
    id,
    name,
    key,
    type,
    creator: createdBy.name,
    status: listStatus(statusOf(document)),
    folder: folderId,
    tags: tags.map(({ label, value }) => [label, value]),
    signs: actions.some(isSigning),
    people: [...people.values()].map(([user, pending]) => [
      [user.name, user.identifier, user.email, user.phone],
      pending,
    ]),
  };
  return externalId === undefined ? row : { ...row, externalId };
}

function participantRows({ context }: DocumentActor, facts: DocumentRow): readonly Row[] {
  const { people, externalId } = facts;
  const pendingBy = new Map<string, boolean>();
  for (const [[, identifier, email], pending] of people) {
    const keys = [
      ...(email === null ? [] : [participantKey('Email', email)]),
      ...(identifier === null ? [] : [participantKey('Identifier', identifier)]),
    ];
    for (const key of keys) pendingBy.set(key, pending || pendingBy.get(key) === true);
  }
  return [...pendingBy].map(([key, pending]) => ({
    view: 'documents-of',
    key: [context.organization.id, key, context.order],
    value: PARTICIPANT_ROW.write({
      id: facts.id,
      name: facts.name,
      key: facts.key,
      type: facts.type,
      creator: facts.creator,
      status: facts.status,
      folder: facts.folder,
      tags: facts.tags,
      signs: facts.signs,
      pending,
      ...(externalId !== undefined && { externalId }),
    }),
  }));
}

let lastDay = { number: Number.NaN, text: '' };

/** `yyyy-mm-dd`, UTC. The last one is kept: V8 takes a microsecond to format a time. */
export function dayOf(at: Millis): string {
  const number = Math.floor(at / DAY_MS);
  if (number !== lastDay.number) lastDay = { number, text: new Date(at).toISOString().slice(0, 10) };
  return lastDay.text;
}

function documentCounters(document: DocumentActor): { readonly [name: string]: number } {
  const { context } = document;
  const { organization, folderId, creationDate, isEnvelope } = context;
  // A deleted document references no file.
  const counters: { [name: string]: number } = blobCounters(isDeleted(document) ? [] : blobsOf(context));
  countOne(counters, `documents-made/${dayOf(creationDate)}/${isEnvelope ? 'envelope' : 'document'}`);
  if (context.generationId !== undefined) Object.assign(counters, generationCounters(document));
  Object.assign(counters, retentionCounters(retentionRows(document)));
  if (isDeleted(document)) return counters;
  const status = listStatus(statusOf(document));
  countOne(counters, `documents/${organization.id}/${status}`);
  countOne(counters, `documents-in/${organization.id}/${folderId ?? NO_FOLDER}/${status}`);
  if (context.processingError !== null) counters[STUCK_DOCUMENT_COUNTER] = 1;
  return counters;
}

/** Refused ones are open: a new version lets them go on. */
function generationCounters(document: DocumentActor): { readonly [name: string]: number } {
  const { generationId } = document.context;
  if (generationId === undefined) return {};
  const made = { [`generation/${generationId}/made`]: 1 };
  if (isDeleted(document)) return made;
  const status = listStatus(statusOf(document));
  return {
    ...made,
    ...((status === 'Pending' || status === 'Refused') && { [`generation/${generationId}/open`]: 1 }),
    ...(status === 'Concluded' && { [`generation/${generationId}/concluded`]: 1 }),
  };
}

/** Every file the document needs, one entry per reference. */
export function blobsOf(context: DocumentContext): readonly BlobRef[] {
  const { file, parts, current, signatures, accepted, reservations, made, attachments } = context;
  const found: BlobRef[] = [file.blob, current];
  const add = (blob: BlobRef | null): void => {
    if (blob !== null) found.push(blob);
  };
  add(signatures);
  for (const { blob } of parts) add(blob);
  for (const { image, state } of accepted) {
    add(image);
    add(state);
  }
  for (const { state, values = [] } of reservations) {
    add(state);
    for (const { attachment } of values) add(attachment?.file.blob ?? null);
  }
  for (const { image } of made) add(image);
  for (const attachment of attachments) add(attachment.file.blob);
  return found;
}

function documentNames({ context }: Pick<DocumentActor, 'context'>): readonly string[] {
  return [documentKeyName(context.key)];
}

/** Derives what an earlier version did, which had no rows of some views. */
function factsWithout(...views: readonly string[]) {
  return (document: DocumentActor) => ({
    rows: documentRows(document).filter(({ view }) => !views.includes(view)),
    names: documentNames(document),
    counters: documentCounters(document),
  });
}

const VERSION_2 = jsonType<{ readonly reservations: readonly { until?: Millis }[] }>();

export const DOCUMENT = defineActor('document', {
  machine: documentMachine,
  effects: DOCUMENT_EFFECTS,
  version: 5,
  restsIn: documentStatusesIn('concluded', 'ended'),
  migrations: {
    // Version 1 had no rows of signatures.
    1: { migrate: (stored) => stored, facts: factsWithout(SIGNATURES_VIEW, EXPIRING_VIEW, WAITING_VIEW) },
    // Version 2 held the file for a started signature until a time.
    2: {
      migrate: ({ state, context }) => {
        const { reservations, ...rest } = VERSION_2.read(context);
        return {
          state,
          context: { ...rest, reservations: reservations.map(({ until: _, ...reservation }) => reservation) },
        };
      },
      facts: factsWithout(EXPIRING_VIEW, WAITING_VIEW),
    },
    // Version 3 had no rows of what expires.
    3: { migrate: (stored) => stored, facts: factsWithout(EXPIRING_VIEW, WAITING_VIEW) },
    // Version 4 had no rows of what waits for a mailbox.
    4: { migrate: (stored) => stored, facts: factsWithout(WAITING_VIEW) },
  },
  rows: documentRows,
  names: documentNames,
  counters: documentCounters,
});
