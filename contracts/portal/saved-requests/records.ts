/** The five operations that saved flows, drafts and templates have in common. */

import type { z } from 'zod';
import { members, shown } from '../../fields.ts';
import type { Declaration, Value } from '../../operation.ts';
import { creationDate, creator, updateDate } from '../entities.ts';
import { pageOf, paging, queryText } from '../lists.ts';
import { operationsOf } from '../operation.ts';
import type { PortalRefusalCode } from '../refusals.ts';

export const recordTimes = {
  creationDate,
  updateDate,
  createdBy: creator,
};

/** Query of a list of records. */
export const recordQuery = {
  q: shown(queryText, 'Names contain this text, in any case.', 'lease'),
  ...paging,
};

type Texts = Pick<Declaration<PortalRefusalCode>, 'summary' | 'description' | 'examples'>;

export function recordOperations<
  Body extends z.ZodType,
  Item extends z.ZodType,
  View extends z.ZodType,
  Params extends z.ZodType,
>({
  path,
  group,
  texts,
  params,
  body,
  item,
  view,
  notFound,
  notSaved,
  fixed = [],
}: {
  path: `/${string}`;
  /** Group in the API description. */
  group: string;
  texts: Readonly<Record<'list' | 'create' | 'get' | 'replace' | 'remove', Texts>>;
  params: Params;
  body: Body;
  item: Item;
  view: View;
  notFound: PortalRefusalCode;
  /** Codes of what is not kept. */
  notSaved: readonly PortalRefusalCode[];
  /** Codes of a record that cannot be changed now. */
  fixed?: readonly PortalRefusalCode[];
}) {
  const operation = operationsOf({ group });
  const changed = { body, largeBody: true } as const;
  return {
    list: operation(`GET ${path}`, {
      ...texts.list,
      scope: 'Read',
      query: members(recordQuery),
      reply: pageOf(item),
    }),
    create: operation(`POST ${path}`, {
      ...texts.create,
      scope: 'Create',
      idempotent: true,
      ...changed,
      reply: item,
      refusals: [...notSaved, 'IdempotencyConflict'],
    }),
    get: operation(`GET ${path}/{id}`, {
      params,
      ...texts.get,
      scope: 'Read',
      reply: view,
      refusals: [notFound],
    }),
    replace: operation(`PUT ${path}/{id}`, {
      params,
      ...texts.replace,
      scope: 'Create',
      ...changed,
      reply: 'empty',
      refusals: [notFound, ...fixed, ...notSaved],
    }),
    remove: operation(`DELETE ${path}/{id}`, {
      params,
      ...texts.remove,
      scope: 'Create',
      reply: 'empty',
      refusals: [notFound, ...fixed],
    }),
  };
}

export type RecordQuery = Value<z.ZodObject<typeof recordQuery>>;
