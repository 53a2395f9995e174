/**
 * The lists documents stand in, their unique keys and what they count. Rows carry what filters ask for, so that a list
 * never loads a document to leave it out.
 *
 * - `documents`         [organization, order] → DocumentFacts           all that are not deleted;
 * - `documents-by`      [organization, list status, order] → same       told apart by status;
 * - `documents-in`      [organization, folder, order] → same            by folder, `NO_FOLDER` for those in none;
 * - `documents-of`      [organization, participant, order] → ParticipantFacts   by who takes part (`participantKey`);
 * - `documents-deleted` [organization, order] → DocumentFacts           with the status they had;
 * - `documents-stuck`   [since, order] → StuckFacts                     accepted work that failed and is tried again;
 * - `documents-created` [order] → CreatedFacts                          all there ever were, for reports.
 *
 * Counters: `documents/<organization>/<list status>`, `documents-in/<organization>/<folder>/<list status>`,
 * `documents-made/<day>/<document or envelope>` (deleted ones too), `documents-stuck`, `blob/<sha256>`,
 * `generation/<id>/<made, open or concluded>` (as made, deleted ones too).
 *
 * Source: portal-gaps §§12, 16, 18.
 */

import { documentMachine } from '../../machines/document.ts';
import type { DocumentContext, DocumentState } from '../../machines/document-context.ts';
import { askedUsers, isSigning, usersOf } from '../../machines/document-flow.ts';
import type { DocumentId, Millis, OrganizationId } from '../../machines/ids.ts';
import type { BlobRef, DocumentStatus, Participant } from '../../machines/portal-words.ts';
import type { ActorAddress, ActorDefinition, Row } from '../../runtime/index.ts';
import { blobCounters } from './blobs.ts';
import { derivedId } from './effect-ids.ts';

export const DOCUMENT = 'document';

/** Stands for the folder of documents that are in none. */
export const NO_FOLDER = '-';

/** Counts documents with accepted work that failed and is being tried again. */
const STUCK_COUNTER = 'documents-stuck';

/** A document as its definition sees it. */
export interface DocumentActor {
  readonly id: string;
  readonly state: string;
  readonly context: DocumentContext;
}

/** A status as lists tell them apart: final processing counts as Pending. */
export type ListStatus = Exclude<DocumentStatus, 'FlowConcluded'>;

/** Name, identifier, e-mail, phone. */
export type PersonFacts = readonly [string | null, string | null, string | null, string | null];

export interface DocumentFacts {
  readonly id: DocumentId;
  readonly name: string;
  readonly key: string;
  readonly creator: string;
  readonly status: ListStatus;
  readonly folder: string | null;
  readonly type: string | null;
  /** Label and value of each tag. */
  readonly tags: readonly (readonly [string | null, string])[];
  /** True: somebody signs, not only approves. */
  readonly signs: boolean;
  /** Those who take part; `[who, true]` = a signature of theirs is pending. */
  readonly people: readonly (readonly [PersonFacts, boolean])[];
}

/** The same for one participant. */
export interface ParticipantFacts extends Omit<DocumentFacts, 'people'> {
  /** A signature of this participant is pending. */
  readonly pending: boolean;
}

/** What reports read. */
export interface CreatedFacts {
  readonly id: DocumentId;
  readonly name: string;
  readonly organizationId: OrganizationId;
  readonly organizationName: string;
  readonly createdBy: string;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  /** The one it had, for a deleted document. */
  readonly status: DocumentStatus;
  readonly isDeleted: boolean;
  readonly isEnvelope: boolean;
  readonly signatures: number;
}

/** A document whose accepted work is not done yet. */
export interface StuckFacts {
  readonly id: DocumentId;
  readonly organizationId: OrganizationId;
  readonly code: string;
}

export function documentAddress(id: DocumentId): ActorAddress {
  return { kind: DOCUMENT, id };
}

/** Of the document that is made from file `index` of the request with this seed. */
export function seededId(seed: string, index: number): DocumentId {
  return derivedId('document', seed, index) as DocumentId;
}

/** Unique name of a validation key. @param key folded: `foldedKey` */
export function documentKeyName(key: string): string {
  return `document-key:${key}`;
}

/** A validation key as people write it: without regard to case, dashes and spaces. Source: portal-gaps §17. */
export function foldedKey(text: string): string {
  return text.replace(/[\s\p{Pd}]/gu, '').toUpperCase();
}

/** One spelling of names and addresses for comparisons. */
export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** Bytes of a participant's key; longer addresses are cut, and told apart by their rows. */
const LONGEST_PARTICIPANT = 300;

/** How a participant is named in `documents-of`. */
export function participantKey(by: 'Email' | 'Identifier', text: string): string {
  const key = `${by === 'Email' ? 'e' : 'i'}:${folded(text)}`;
  return Buffer.byteLength(key) <= LONGEST_PARTICIPANT
    ? key
    : Buffer.from(key)
        .subarray(0, LONGEST_PARTICIPANT)
        .toString('latin1')
        .replace(/[^ -~]/g, '?');
}

function listStatus(status: DocumentStatus): ListStatus {
  return status === 'FlowConcluded' ? 'Pending' : status;
}

/** The status of a document, or the one it had before it was deleted. */
export function statusOf({ state, context }: DocumentActor): DocumentStatus {
  return (state as DocumentState) === 'Deleted'
    ? (context.statusBefore ?? 'Pending')
    : (state as DocumentStatus);
}

function isDeleted({ state }: DocumentActor): boolean {
  return state === 'Deleted';
}

export function factsOf(value: Row['value']): DocumentFacts {
  return value as unknown as DocumentFacts;
}

function documentRows(document: DocumentActor): readonly Row[] {
  const { context } = document;
  const { order } = context;
  const organization = context.organization.id;
  const created: Row = { view: 'documents-created', key: [order], value: { ...createdFacts(document) } };
  const facts = documentFacts(document);
  const value = facts as unknown as Row['value'];
  if (isDeleted(document)) return [created, { view: 'documents-deleted', key: [organization, order], value }];
  return [
    created,
    { view: 'documents', key: [organization, order], value },
    { view: 'documents-by', key: [organization, facts.status, order], value },
    { view: 'documents-in', key: [organization, facts.folder ?? NO_FOLDER, order], value },
    ...participantRows(document, facts),
    ...stuckRows(document),
  ];
}

function stuckRows({ context }: DocumentActor): readonly Row[] {
  const { id, organization, order, processingError } = context;
  if (processingError === null) return [];
  const value: StuckFacts = { id, organizationId: organization.id, code: processingError.code };
  return [{ view: 'documents-stuck', key: [processingError.since, order], value: { ...value } }];
}

function createdFacts(document: DocumentActor): CreatedFacts {
  const { id, name, organization, createdBy, creationDate, updateDate, isEnvelope, made } = document.context;
  return {
    ...{ id, name, creationDate, updateDate, isEnvelope },
    organizationId: organization.id,
    organizationName: organization.name,
    createdBy: createdBy.name,
    status: statusOf(document),
    isDeleted: isDeleted(document),
    signatures: made.filter(({ kind }) => kind !== 'approval').length,
  };
}

function documentFacts(document: DocumentActor): DocumentFacts {
  const { id, name, key, createdBy, folderId, type, tags, actions } = document.context;
  const isOpen = document.state === 'Pending';
  const people = new Map<string, [Participant, boolean]>();
  for (const action of actions) {
    const asked = isOpen && action.status === 'Pending' && isSigning(action) ? askedUsers(action) : [];
    for (const user of usersOf(action)) people.set(user.id, [user, asked.some((one) => one.id === user.id)]);
  }
  return {
    ...{ id, name, key, type },
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
}

function participantRows({ context }: DocumentActor, { people, ...facts }: DocumentFacts): readonly Row[] {
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
    value: { ...facts, pending } as unknown as Row['value'],
  }));
}

/** `yyyy-mm-dd`, UTC. */
export function dayOf(at: Millis): string {
  return new Date(at).toISOString().slice(0, 10);
}

function documentCounters(document: DocumentActor): { readonly [name: string]: number } {
  const { context } = document;
  const { organization, folderId, creationDate, isEnvelope } = context;
  const made = {
    [`documents-made/${dayOf(creationDate)}/${isEnvelope ? 'envelope' : 'document'}`]: 1,
    ...generationCounters(document),
  };
  // What is left of a deleted document holds no file.
  if (isDeleted(document)) return made;
  const status = listStatus(statusOf(document));
  return {
    ...made,
    ...blobCounters(blobsOf(context)),
    [`documents/${organization.id}/${status}`]: 1,
    [`documents-in/${organization.id}/${folderId ?? NO_FOLDER}/${status}`]: 1,
    ...(context.processingError !== null && { [STUCK_COUNTER]: 1 }),
  };
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
  const found = [
    file.blob,
    current,
    signatures,
    ...parts.map(({ blob }) => blob),
    ...accepted.flatMap(({ image, state }) => [image, state]),
    ...reservations.map(({ state }) => state),
    ...made.map(({ image }) => image),
    ...attachments.map((attachment) => attachment.file.blob),
  ];
  return found.filter((blob): blob is BlobRef => blob !== null);
}

export const documentDefinition: ActorDefinition = {
  kind: DOCUMENT,
  machine: documentMachine,
  version: 1,
  rows: documentRows,
  names: ({ context }) => [documentKeyName((context as DocumentContext).key)],
  counters: documentCounters,
};
