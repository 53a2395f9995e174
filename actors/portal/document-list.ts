/**
 * Finds documents over the rows that `document-index.ts` describes: a filter picks ranges and asks their rows the rest.
 * Ranges are merged by order, piece by piece, so that memory stays bounded however deep the page is.
 *
 * Totals are exact: counters know them for an organization, its statuses and its folders; any other filter counts the
 * rows of the ranges it picked.
 *
 * Source: portal-gaps §12.
 */
import type { DocumentId, OrganizationId } from '../../machines/ids.ts';
import type { ActorStore } from '../../runtime/index.ts';
import { countRows, MergedRows, OrderedRows, type OrderedRowsOptions } from '../ordered-rows.ts';
import type { DocumentQuery } from './api.ts';
import {
  type DocumentFacts,
  factsOf,
  folded,
  foldedKey,
  type ListStatus,
  NO_FOLDER,
  type ParticipantFacts,
  type PersonFacts,
  participantKey,
} from './document-index.ts';

/** The places of a person's facts by what they are asked for. */
const PLACES = { Name: 0, Identifier: 1, Email: 2, Phone: 3 } as const;

/** Tags beyond these are not looked at. Source: portal-gaps §12. */
const MOST_TAGS = 10;

const ALL: readonly ListStatus[] = ['Pending', 'Concluded', 'Refused', 'Canceled', 'Expired'];

type Facts = DocumentFacts & Partial<Pick<ParticipantFacts, 'pending'>>;
type Question = (facts: Facts) => boolean;

interface Selection {
  readonly ranges: readonly Pick<OrderedRowsOptions, 'view' | 'prefix'>[];
  readonly fits: Question | undefined;
  /** How many match, where counters know. */
  readonly total: number | undefined;
}

/** Ids of one page, and how many documents match in all. */
export async function listDocuments(
  store: ActorStore,
  organization: OrganizationId,
  query: DocumentQuery,
): Promise<{ readonly ids: readonly DocumentId[]; readonly totalCount: number }> {
  const offset = query.offset * query.limit;
  const { ranges, fits, total } = await select(store, organization, query);
  if (total !== undefined && offset >= total) return { ids: [], totalCount: total };
  const { newestFirst } = query;
  const rows = ranges.map(
    (range) => new OrderedRows(store, { ...range, newestFirst, expected: query.limit }),
  );
  const merged = new MergedRows(rows, newestFirst);
  const ids: DocumentId[] = [];
  let matched = fits || total === undefined ? 0 : await merged.skip(offset);
  while (ids.length < query.limit) {
    const row = await merged.next();
    if (row === undefined) break;
    const facts = factsOf(row.value);
    if (fits && !fits(facts)) continue;
    matched += 1;
    if (matched > offset) ids.push(facts.id);
  }
  if (total !== undefined) return { ids, totalCount: total };
  const left = await countRows(rows, (row) => !fits || fits(factsOf(row.value)));
  return { ids, totalCount: matched + left };
}

/** Ids of the documents that wait for an address to act, oldest first. */
export async function pendingOf(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
  email: string,
  limit: number,
): Promise<readonly DocumentId[]> {
  const prefix = [organization, participantKey('Email', email)];
  const rows = new MergedRows(
    [new OrderedRows(store, { view: 'documents-of', prefix, newestFirst: false })],
    false,
  );
  const ids: DocumentId[] = [];
  for (let row = await rows.next(); row !== undefined && ids.length < limit; row = await rows.next()) {
    const facts = factsOf(row.value);
    if (facts.status === 'Pending') ids.push(facts.id);
  }
  return ids;
}

async function select(
  store: ActorStore,
  organization: OrganizationId,
  query: DocumentQuery,
): Promise<Selection> {
  const statuses = statusesOf(query.status);
  const folder = query.folderId ?? (query.withoutFolder === true ? NO_FOLDER : undefined);
  const questions = questionsOf(query);
  const isStatus: Question[] = statuses === undefined ? [] : [({ status }) => statuses.includes(status)];
  const isFolder: Question[] =
    folder === undefined ? [] : [(facts) => (facts.folder ?? NO_FOLDER) === folder];
  if (query.deleted === true) {
    const ranges = [{ view: 'documents-deleted', prefix: [organization] }];
    const asked = [...questions, ...participantQuestions(query), ...isStatus, ...isFolder];
    return { ranges, fits: allOf(asked), total: undefined };
  }
  const participant = exactParticipant(query);
  if (participant !== undefined) {
    const pending: Question[] = query.pendingSignature === true ? [(facts) => facts.pending === true] : [];
    const ranges = [{ view: 'documents-of', prefix: [organization, participant] }];
    return { ranges, fits: allOf([...questions, ...pending, ...isStatus, ...isFolder]), total: undefined };
  }
  const asked = [...questions, ...participantQuestions(query)];
  if (folder !== undefined) {
    const ranges = [{ view: 'documents-in', prefix: [organization, folder] }];
    const total =
      asked.length > 0 ? undefined : await counted(store, `documents-in/${organization}/${folder}`, statuses);
    return { ranges, fits: allOf([...asked, ...isStatus]), total };
  }
  const total = asked.length > 0 ? undefined : await counted(store, `documents/${organization}`, statuses);
  const ranges =
    statuses === undefined
      ? [{ view: 'documents', prefix: [organization] }]
      : statuses.map((status) => ({ view: 'documents-by', prefix: [organization, status] }));
  return { ranges, fits: allOf(asked), total };
}

async function counted(
  store: Pick<ActorStore, 'counters'>,
  name: string,
  statuses: readonly ListStatus[] = ALL,
): Promise<number> {
  const counters = await store.counters(`${name}/`);
  return statuses.reduce((sum, status) => sum + (counters[`${name}/${status}`] ?? 0), 0);
}

function statusesOf(status: DocumentQuery['status']): readonly ListStatus[] | undefined {
  if (status === 'PendingOrRefused') return ['Pending', 'Refused'];
  if (status === 'CanceledOrExpired') return ['Canceled', 'Expired'];
  return status === undefined ? undefined : [status];
}

/** A whole address or identifier names its documents by itself; parts of one are looked for. */
function exactParticipant({ participantQ, participantQueryType: type }: DocumentQuery): string | undefined {
  const text = participantQ?.trim() ?? '';
  if (type === 'Email' && /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(text)) return participantKey('Email', text);
  if (type === 'Identifier' && /^[\d.\-/ ]{11,}$/.test(text))
    return participantKey('Identifier', text.replace(/[\s.\-/]/g, ''));
  return undefined;
}

function participantQuestions({
  participantQ,
  participantQueryType: type,
  pendingSignature,
}: DocumentQuery): Question[] {
  const text = folded(participantQ?.trim() ?? '');
  if (text === '') return [];
  const bare = text.replace(/[\s.\-/()+]/g, '');
  const places = type === undefined ? Object.values(PLACES) : [PLACES[type]];
  const isWho = (person: PersonFacts) =>
    places.some((place) => {
      const value = folded(person[place] ?? '');
      if (value.includes(text)) return true;
      // Numbers are compared without their punctuation.
      return place % 2 === 1 && bare !== '' && value.replace(/[\s.\-/()+]/g, '').includes(bare);
    });
  return [
    ({ people }) => people.some(([who, pending]) => isWho(who) && (pending || pendingSignature !== true)),
  ];
}

function questionsOf(query: DocumentQuery): Question[] {
  const questions: Question[] = [];
  const { q, queryType = 'Name', pendingSignature, filterByDocumentType, documentType, tags } = query;
  if (q !== undefined && q !== '') questions.push(searched(q, queryType));
  if (pendingSignature === true) questions.push(({ signs }) => signs);
  if (filterByDocumentType === true) questions.push(({ type }) => type === (documentType ?? null));
  for (const tag of tags?.slice(0, MOST_TAGS) ?? []) {
    const [label, value] = [tag.label === null ? null : folded(tag.label), folded(tag.value)];
    questions.push((facts) =>
      facts.tags.some(
        ([itsLabel, itsValue]) =>
          folded(itsValue) === value && (label === null || folded(itsLabel ?? '') === label),
      ),
    );
  }
  return questions;
}

function searched(q: string, by: NonNullable<DocumentQuery['queryType']>): Question {
  const text = folded(q);
  const has = (value: string) => folded(value).includes(text);
  switch (by) {
    case 'Name':
      return ({ name }) => has(name);
    case 'Key': {
      const key = foldedKey(q);
      return (facts) => facts.key.includes(key);
    }
    case 'Id':
      return ({ id }) => has(id);
    case 'CreatorName':
      return ({ creator }) => has(creator);
    case 'Tag':
      return ({ tags }) => tags.some(([label, value]) => has(value) || has(label ?? ''));
  }
}

function allOf(questions: readonly Question[]): Question | undefined {
  if (questions.length === 0) return undefined;
  return (facts) => questions.every((question) => question(facts));
}

/** Ids of documents in a folder that are not deleted, at most `limit`. */
export async function documentsIn(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
  folder: string,
  limit: number,
): Promise<readonly DocumentId[]> {
  const rows = await store.rows({ view: 'documents-in', prefix: [organization, folder], limit });
  return rows.map(({ value }) => factsOf(value).id);
}
