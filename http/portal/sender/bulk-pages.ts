/**
 * `/account/templates/{id}/bulk`: pages on which a signed-in user creates a document of a template for each row of a table,
 * and follows them.
 */

import type { Ids } from '@sealwright/runtime';
import { z } from 'zod';
import {
  type Generations,
  type IdempotentRequests,
  mayChange,
  type SignedInUser,
  type Templates,
} from '../../../actors/portal/api.ts';
import { maySend } from '../../../machines/portal/accounts/user-rights.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { type AccountPage, addressFrom } from '../../../web/pages/portal/account-frame.ts';
import { bulkPage, bulkResultPage, columnsText } from '../../../web/pages/portal/sender/bulk-view.tsx';
import { fingerprintOf } from '../../core/body/json-body.ts';
import { csvReply } from '../../core/csv-reply.ts';
import { redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { accountGet, accountPost, accountReply, formText } from '../accounts/account-route.ts';
import { withIdempotency } from '../idempotency.ts';
import { idParams } from '../input/ids.ts';
import { mayUse } from './template-pages.ts';

const PATH = '/account/templates/{id}/bulk';
/** Those of the largest table. */
const MAX_COLUMNS = 200;
const ROWS_SHOWN = 100;
const EARLIER_SHOWN = 20;

const pageNumber = z.coerce.number().int().min(0).max(1_000).catch(0);

const tableBody = z.object({
  id: formText,
  name: formText,
  contentType: formText,
  version: formText,
  key: formText,
  /** The columns by which the rows were checked, as `columnsText` writes them. */
  checked: z.string().max(1_000_000).default(''),
  ...Object.fromEntries(
    Array.from({ length: MAX_COLUMNS }, (_, at) => [`column-${at}`, z.string().max(4096).optional()]),
  ),
});
type TableBody = z.infer<typeof tableBody>;

export interface BulkPages {
  readonly templates: Templates;
  readonly generations: Generations;
  readonly idempotency: IdempotentRequests;
  readonly ids: Pick<Ids, 'uuid'>;
}

export function bulkPageRoutes(pages: BulkPages): readonly AnyRoute[] {
  return [
    formRoute(pages),
    // Before the results, whose pattern has its path, too.
    emptyTableRoute(pages),
    previewRoute(pages),
    createRoute(pages),
    resultRoute(pages),
    cancelRoute(pages),
  ];
}

async function show(
  pages: BulkPages,
  page: AccountPage,
  user: SignedInUser,
  {
    id,
    body,
    isChanged = false,
    refused,
  }: {
    readonly id: string;
    readonly body?: TableBody | undefined;
    /** The rows were not checked by these columns. */
    readonly isChanged?: boolean;
    /** Reason why the documents were not made: the form is shown again, under another key. */
    readonly refused?: PortalRefusal | undefined;
  },
) {
  const { templates, generations, ids } = pages;
  const { document, ...template } = await templates.get(user.tenant, id, null);
  const shown = { template, mayUse: mayUse(user, document) };
  if (body === undefined) {
    const earlier = await generations.ofTemplate(user.tenant, template.id, EARLIER_SHOWN);
    return accountReply(200, bulkPage(page, user, { ...shown, earlier }));
  }
  const { request, chosen } = requestOf(body);
  const file = request.dataFile;
  try {
    // The form that is shown is about the newest version.
    const { version } = template;
    const preview = await templates.preview(user.tenant, id, { ...request, version }, chosen);
    const content = {
      ...shown,
      file,
      preview,
      isChanged,
      key: ids.uuid(),
      ...(refused && { refusal: refused }),
    };
    return accountReply(refused === undefined ? 200 : 422, bulkPage(page, user, content));
  } catch (error) {
    if (!(error instanceof PortalRefusal) || error.code === 'TemplateNotFound') throw error;
    const once = chosen && usedOnce(chosen);
    // The columns stay on the page, where they can be chosen again.
    if (refused === undefined && once?.join() !== chosen?.join())
      return show(pages, page, user, { id, body: { ...body, ...columnsOf(once ?? []) }, refused: error });
    return accountReply(422, bulkPage(page, user, { ...shown, file, refusal: error }));
  }
}

/** The columns without those that an earlier one fills already. */
function usedOnce(chosen: readonly string[]): readonly string[] {
  return chosen.map((column, at) => (chosen.indexOf(column) === at ? column : ''));
}

function columnsOf(chosen: readonly string[]): Partial<TableBody> {
  return Object.fromEntries(chosen.map((column, at) => [`column-${at}`, column]));
}

function formRoute(pages: BulkPages): AnyRoute {
  return accountGet({
    path: PATH,
    summary: 'A page for users: the form with the table for many documents of a template.',
    description:
      'An unknown template, or one of another organization, is answered with 404. The script of the page uploads the table.',
    auth: 'user',
    params: idParams,
    handle: ({ page, user, params }) => show(pages, page, user, { id: params.id }),
  });
}

function emptyTableRoute({ templates }: BulkPages): AnyRoute {
  return accountGet({
    path: `${PATH}/table.csv`,
    summary: 'Sends a table without rows, with the columns of a template.',
    description: 'Reads the files of the template, in which tags may name fields.',
    auth: 'user',
    params: idParams,
    reply: 'csv',
    async handle({ user, params }) {
      const { template, names } = await templates.columnNames(user.tenant, params.id);
      return csvReply(`${template}.csv`, noRows(), { columns: names, cellsOf: (cells) => cells });
    },
  });
}

async function* noRows(): AsyncGenerator<readonly (readonly string[])[]> {
  yield [];
}

function previewRoute(pages: BulkPages): AnyRoute {
  return accountPost({
    path: `${PATH}/preview`,
    summary: 'Shows the columns and the rows of a table, and the faults of its rows; creates nothing.',
    auth: 'user',
    params: idParams,
    body: tableBody,
    handle: ({ page, user, params, body }) => show(pages, page, user, { id: params.id, body }),
  });
}

function createRoute(pages: BulkPages): AnyRoute {
  const { templates, idempotency } = pages;
  return accountPost({
    path: `${PATH}/documents`,
    summary: 'Creates a document for each row of a table that has no fault.',
    description:
      'The rules are those of `POST /api/templates/{id}/generation`; the form has an idempotency key, so that a form that is sent twice creates the documents once. Columns that were changed after the rows were checked are shown again, with their faults.',
    auth: 'user',
    params: idParams,
    body: tableBody,
    async handle({ page, user, params, body }) {
      const id = params.id.toLowerCase();
      const { request, chosen = [] } = requestOf(body);
      const { key, checked, ...given } = body;
      const isChanged = checked !== '' && checked !== columnsText(chosen);
      if (isChanged) return show(pages, page, user, { id, body, isChanged });
      const call = { route: `POST ${PATH}/documents`, key, fingerprint: fingerprintOf([id, given]) };
      try {
        const made = await withIdempotency(idempotency, user.tenant, call, (seed) =>
          templates.generateWith(user.tenant, id, { given: request, chosen, seed }),
        );
        return redirect(302, addressFrom(page, `/account/templates/${id}/bulk/${made.id}`));
      } catch (error) {
        if (!(error instanceof PortalRefusal) || error.code === 'TemplateNotFound') throw error;
        return show(pages, page, user, { id, body, refused: error });
      }
    },
  });
}

function resultRoute({ templates, generations }: BulkPages): AnyRoute {
  return accountGet({
    path: `${PATH}/{generation}`,
    summary: 'A page for users: the progress of many documents, and the result of each row.',
    auth: 'user',
    params: idParams.extend({ generation: z.string().max(64) }),
    async handle({ page, user, params, query }) {
      const offset = pageNumber.parse(query['rows'] ?? 0);
      const { document: _document, ...template } = await templates.get(user.tenant, params.id, null);
      const generation = await generations.get(user.tenant, params.generation);
      const { folderId, agentId } = generation;
      const mayCancel =
        maySend(user.role, `${PATH}/{generation}/cancellation`) &&
        mayChange(user.tenant, { folderId, createdBy: { id: agentId } });
      const rows = await generations.rows(user.tenant, params.generation, { limit: ROWS_SHOWN, offset });
      return accountReply(200, bulkResultPage(page, user, { template, generation, rows, offset, mayCancel }));
    },
  });
}

function cancelRoute({ generations }: BulkPages): AnyRoute {
  return accountPost({
    path: `${PATH}/{generation}/cancellation`,
    summary: 'Stops the creation of documents; those that exist stay.',
    auth: 'user',
    params: idParams.extend({ generation: z.string().max(64) }),
    body: z.object({}),
    async handle({ page, user, params: { id, generation } }) {
      await generations.cancel(user.tenant, generation).catch((error: unknown) => {
        // It has ended since the page was shown.
        if (!(error instanceof PortalRefusal && error.code === 'DocumentOperationEnded')) throw error;
      });
      return redirect(302, addressFrom(page, `/account/templates/${id}/bulk/${generation}`));
    },
  });
}

/** The request of the form; columns are numbered as in the table. */
function requestOf({ id, name, contentType, version, key: _key, checked: _checked, ...columns }: TableBody) {
  const values: Readonly<Record<string, unknown>> = columns;
  const chosen = Array.from({ length: MAX_COLUMNS }, (_, at) => values[`column-${at}`]);
  return {
    request: {
      dataFile: { id, name, contentType },
      documentName: null,
      properties: {},
      version: Number(version) || null,
    },
    ...(typeof chosen[0] === 'string' && {
      chosen: chosen.map((column) => (typeof column === 'string' ? column : '')),
    }),
  };
}
