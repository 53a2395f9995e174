/**
 * Filters of documents, and tests of rows of `document-index.ts` that say what they find.
 *
 * Source: docs/portal-values.md §12.
 */

import type { DocumentFilter } from '../../../contracts/portal/document-lists.ts';
import type { ListPosition } from '../../../contracts/portal/lists.ts';
import { type ListedStatus, STATUSES_SHOWN } from '../../../contracts/portal/words.ts';
import { firstOrderNumberAt } from '../../shared/ids/order-numbers.ts';
import type { NumberBounds } from '../../shared/lists/stored-rows.ts';
import { foldCase, foldText } from '../../shared/tables/texts.ts';
import { addressKey } from '../shared/mail-address.ts';
import {
  type DocumentRow,
  foldedKey,
  NO_FOLDER,
  type ParticipantRow,
  type PersonRow,
  participantKey,
} from './document-index.ts';

/** Index of a person's fields by filter. */
export const SEARCHED_FIELDS = { Name: 0, Identifier: 1, Email: 2, Phone: 3 } as const;

/** Maximum number of compared tags. Source: docs/portal-values.md §12. */
export const MAX_TAGS = 10;

type FactsRow = DocumentRow & Partial<Pick<ParticipantRow, 'pending'>>;
export type RowPredicate = (facts: FactsRow, order: number) => boolean;

export interface DocumentQuery extends DocumentFilter {
  /** A page by position instead of number; `offset` is not used. @default pages by number */
  readonly position?: 'start' | ListPosition | undefined;
  /** 1 to 100. */
  readonly limit: number;
  /** Pages from 0. */
  readonly offset: number;
  readonly newestFirst: boolean;
  /** Only these; with `status`, those of both. */
  readonly statuses?: readonly ListedStatus[];
  /** Order numbers of the only ones. */
  readonly only?: ReadonlySet<number>;
  /** Order numbers of those that are left out, which are pending and not deleted. */
  readonly without?: ReadonlySet<number> | undefined;
  /** Only pending ones with a last day. */
  readonly expiring?: boolean;
  /** Only those in one of these folders, or in none. */
  readonly inFolders?: Pick<ReadonlySet<string>, 'has'>;
  /** `q` also finds participants. */
  readonly findsPeople?: boolean;
}

/** True unless the filter finds every document of an organization. */
export function restricts(filter: DocumentFilter): boolean {
  const { status, folderId, withoutFolder, deleted, createdFrom, createdTo } = filter;
  const isInFolder = folderId !== undefined || withoutFolder === true;
  const isDated = createdFrom !== undefined || createdTo !== undefined;
  const own = { ...filter, folders: undefined, exceptFolders: undefined };
  const questions = [...predicatesOf(own), ...participantPredicates(filter)];
  return status !== undefined || isInFolder || isDated || deleted === true || questions.length > 0;
}

/** Order numbers never lie before the creation; they lie behind it where the clock was set back. */
export function createdBounds({
  createdFrom,
  createdTo,
}: Pick<DocumentQuery, 'createdFrom' | 'createdTo'>): NumberBounds {
  return {
    ...(createdFrom !== undefined && { from: firstOrderNumberAt(createdFrom) }),
    ...(createdTo !== undefined && { below: firstOrderNumberAt(createdTo + 1) }),
  };
}

type StatusQuery = Pick<DocumentQuery, 'status' | 'statuses'>;

export function statusesOf({ status, statuses }: StatusQuery): readonly ListedStatus[] | undefined {
  const wanted = status && STATUSES_SHOWN[status];
  return wanted === undefined ? statuses : wanted.filter((one) => statuses?.includes(one) ?? true);
}

export function statusPredicates(query: StatusQuery): RowPredicate[] {
  const statuses = statusesOf(query);
  return statuses === undefined ? [] : [({ status }) => statuses.includes(status)];
}

type FolderQuery = Pick<DocumentFilter, 'folderId' | 'withoutFolder'>;

export function folderOf({ folderId, withoutFolder }: FolderQuery): string | undefined {
  return folderId ?? (withoutFolder === true ? NO_FOLDER : undefined);
}

export function folderPredicates(query: FolderQuery): RowPredicate[] {
  const folder = folderOf(query);
  return folder === undefined ? [] : [(facts) => (facts.folder ?? NO_FOLDER) === folder];
}

/** A complete address or identifier uses the index; a part of one is searched for. */
export function exactParticipant({
  participantQ,
  participantQueryType: type,
}: DocumentFilter): string | undefined {
  const text = participantQ?.trim() ?? '';
  // Rows of earlier versions have an internationalized domain as it was given.
  if (type === 'Email' && !/[^\x21-\x7e]|xn--/i.test(text) && /^[^@\s]+@[^@\s][^@\s.]*\.[^@\s]+$/.test(text))
    return participantKey('Email', text);
  if (type === 'Identifier' && /^[\d.\-/ ]{11,}$/.test(text))
    return participantKey('Identifier', text.replace(/[\s.\-/]/g, ''));
  return undefined;
}

export function participantPredicates({
  participantQ,
  participantQueryType: type,
  pendingSignature,
}: DocumentFilter): RowPredicate[] {
  const given = participantQ?.trim() ?? '';
  if (given === '') return [];
  const text = foldText(given);
  // An internationalized domain is found in both of its forms.
  const address = given.includes('@') ? addressKey(given) : given;
  const bare = text.replace(/[\s.\-/()+]/g, '');
  // An address with other letters is another person's.
  const inName = { fold: foldText, texts: [text, foldText(address)] };
  const inAddress = { fold: foldCase, texts: [foldCase(given), foldCase(address)] };
  const places = type === undefined ? Object.values(SEARCHED_FIELDS) : [SEARCHED_FIELDS[type]];
  const isWho = (person: PersonRow) =>
    places.some((place) => {
      const { fold, texts } = place === SEARCHED_FIELDS.Email ? inAddress : inName;
      const value = fold(person[place] ?? '');
      if (texts.some((one) => value.includes(one))) return true;
      if (value.includes('xn--') && foldCase(addressKey(value)).includes(inAddress.texts[1] ?? ''))
        return true;
      // Numbers are compared without their punctuation.
      return place % 2 === 1 && bare !== '' && value.replace(/[\s.\-/()+]/g, '').includes(bare);
    });
  return [
    // Rows of one participant have no list of people.
    ({ people = [] }: { readonly people?: FactsRow['people'] }) =>
      people.some(([who, pending]) => isWho(who) && (pending || pendingSignature !== true)),
  ];
}

/** Tests of a query other than those of status, folder, participant and time. */
export function predicatesOf(
  query: DocumentFilter & Partial<Pick<DocumentQuery, 'findsPeople' | 'without' | 'inFolders'>>,
): RowPredicate[] {
  const questions: RowPredicate[] = [];
  const {
    q,
    queryType = 'Name',
    pendingSignature,
    filterByDocumentType,
    documentType,
    tags,
    externalId,
    folders,
    exceptFolders,
    inFolders,
    without,
  } = query;
  const sought = q?.trim() ?? '';
  if (sought !== '') {
    const isFound = searched(sought, queryType);
    const [isPerson] = query.findsPeople === true ? participantPredicates({ participantQ: sought }) : [];
    questions.push((facts, order) => isFound(facts, order) || isPerson?.(facts, order) === true);
  }
  if (folders !== undefined) {
    const reached = new Set(folders);
    questions.push((facts) => reached.has(facts.folder ?? NO_FOLDER));
  }
  if (exceptFolders !== undefined) {
    const hidden = new Set(exceptFolders);
    questions.push(({ folder }) => folder === null || !hidden.has(folder));
  }
  if (inFolders !== undefined) questions.push(({ folder }) => folder === null || inFolders.has(folder));
  if (without !== undefined) questions.push((_facts, order) => !without.has(order));
  if (externalId !== undefined) questions.push((facts) => facts.externalId === externalId);
  if (pendingSignature === true) questions.push(({ signs }) => signs);
  if (filterByDocumentType === true) questions.push(({ type }) => type === (documentType ?? null));
  for (const tag of tags?.slice(0, MAX_TAGS) ?? []) {
    const label = tag.label === null ? null : foldText(tag.label);
    const value = foldText(tag.value);
    questions.push((facts) =>
      facts.tags.some(
        ([itsLabel, itsValue]) =>
          foldText(itsValue) === value && (label === null || foldText(itsLabel ?? '') === label),
      ),
    );
  }
  return questions;
}

function searched(q: string, by: NonNullable<DocumentQuery['queryType']>): RowPredicate {
  const text = foldText(q);
  const has = (value: string) => foldText(value).includes(text);
  switch (by) {
    case 'Name':
      return ({ name }) => has(name);
    case 'Key': {
      const key = foldedKey(q);
      // A text of hyphens and spaces is no part of a key.
      return (facts) => key !== '' && facts.key.includes(key);
    }
    case 'Id':
      return ({ id }) => has(id);
    case 'CreatorName':
      return ({ creator }) => has(creator);
    case 'Tag':
      return ({ tags }) => tags.some(([label, value]) => has(value) || has(label ?? ''));
    case 'Any': {
      const others = (['Name', 'Key', 'Id', 'CreatorName', 'Tag'] as const).map((one) => searched(q, one));
      return (facts, order) => has(facts.externalId ?? '') || others.some((isFound) => isFound(facts, order));
    }
  }
}

/** Tests of a query on rows that no index has selected. */
export function allPredicatesOf(
  query: Omit<DocumentQuery, 'limit' | 'offset' | 'newestFirst'>,
): RowPredicate[] {
  return [
    ...predicatesOf(query),
    ...participantPredicates(query),
    ...statusPredicates(query),
    ...folderPredicates(query),
  ];
}

export function allOf(questions: readonly RowPredicate[]): RowPredicate | undefined {
  if (questions.length === 0) return undefined;
  return (facts, order) => questions.every((question) => question(facts, order));
}
