/** The five operations that saved flows, drafts and templates have in common. */

import type { z } from 'zod';
import { members, shown } from '../../fields.ts';
import type { Operation, Value } from '../../operation.ts';
import { creationDate, creator, updateDate } from '../entities.ts';
import { pageOf, paging, queryText } from '../lists.ts';
import { operation } from '../operation.ts';

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

type Texts = Pick<Operation, 'summary' | 'description' | 'examples'>;

export function recordOperations<
  Body extends z.ZodType,
  Item extends z.ZodType,
  View extends z.ZodType,
  Params extends z.ZodType,
  const NotFound extends string,
  const NotSaved extends string,
  const Fixed extends string = never,
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
  readonly path: string;
  /** Group in the API description. */
  readonly group: string;
  readonly texts: Readonly<Record<'list' | 'create' | 'get' | 'replace' | 'remove', Texts>>;
  readonly params: Params;
  readonly body: Body;
  readonly item: Item;
  readonly view: View;
  readonly notFound: NotFound;
  /** Codes of what is not kept. */
  readonly notSaved: readonly NotSaved[];
  /** Codes of a record that cannot be changed now. */
  readonly fixed?: readonly Fixed[];
}) {
  const one = { path: `${path}/{id}`, group, params };
  const changed = { body, largeBody: true } as const;
  return {
    list: operation({
      ...{ method: 'GET', path, group, ...texts.list, scope: 'Read' },
      query: members(recordQuery),
      reply: pageOf(item),
      refusals: [],
    }),
    create: operation({
      ...{ method: 'POST', path, group, ...texts.create, scope: 'Create', idempotent: true },
      ...changed,
      reply: item,
      refusals: [...notSaved, 'IdempotencyConflict'],
    }),
    get: operation({
      ...{ method: 'GET', ...one, ...texts.get, scope: 'Read' },
      reply: view,
      refusals: [notFound],
    }),
    replace: operation({
      ...{ method: 'PUT', ...one, ...texts.replace, scope: 'Create' },
      ...changed,
      reply: 'empty',
      refusals: [notFound, ...fixed, ...notSaved],
    }),
    remove: operation({
      ...{ method: 'DELETE', ...one, ...texts.remove, scope: 'Create' },
      reply: 'empty',
      refusals: [notFound, ...fixed],
    }),
  };
}

export type RecordQuery = Value<z.ZodObject<typeof recordQuery>>;
