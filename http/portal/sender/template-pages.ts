/**
 * `/account/templates`: pages on which a signed-in user lists templates of the organization, edits them, and makes documents of
 * them.
 *
 * Source: docs/decisions/0120-templates.md.
 */

import type { Ids } from '@sealwright/runtime';
import { z } from 'zod';
import {
  type IdempotentRequests,
  mayChange,
  parsedInput,
  reachesFolder,
  type SignedInUser,
  type Templates,
} from '../../../actors/portal/api.ts';
import { senderFields } from '../../../contracts/portal/flow.ts';
import { cursor } from '../../../contracts/portal/lists.ts';
import { type CreatedDocument, newDocuments } from '../../../contracts/portal/new-documents.ts';
import type { TemplateView } from '../../../contracts/portal/saved-requests/templates.ts';
import { LANGUAGES } from '../../../contracts/portal/words.ts';
import { TEXTS } from '../../../contracts/texts/texts.ts';
import { maySend } from '../../../machines/portal/accounts/user-rights.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  type AccountNotice,
  type AccountPage,
  addressFrom,
} from '../../../web/pages/portal/account-frame.ts';
import { editorPage } from '../../../web/pages/portal/sender/editor-view.ts';
import { hasOneName, templatePage, templatesPage } from '../../../web/pages/portal/sender/templates-view.tsx';
import { filled } from '../../../web/pages/portal/texts.ts';
import { fingerprintOf } from '../../core/body/json-body.ts';
import { redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { accountGet, accountPost, accountReply, formText } from '../accounts/account-route.ts';
import { withIdempotency } from '../idempotency.ts';
import { documentId, idParams } from '../input/ids.ts';
import { cursorOf, positionIn } from '../input/query-fields.ts';

const PATH = '/account/templates';
export const PAGE_SIZE = 25;
/** Those of the largest flow and document. */
export const MAX_ROLES = 100;
export const MAX_FIELDS = 500;

export const listQuery = z.object({ q: z.string().max(200).catch(''), cursor: cursor.catch('start') });
const versionQuery = z.coerce.number().int().min(1).max(1_000_000).nullable().catch(null);
const DONE = ['saved', 'removed'] as const;

export const inputs = (name: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}-${index}`, formText.optional()]));

const useBody = z.object({
  version: formText,
  key: formText,
  documentName: formText.optional(),
  description: formText.optional(),
  ...inputs('name', MAX_ROLES),
  ...inputs('email', MAX_ROLES),
  ...inputs('language', MAX_ROLES),
  ...inputs('value', MAX_FIELDS),
});

export interface TemplatePages {
  readonly templates: Templates;
  readonly idempotency: IdempotentRequests;
  readonly ids: Pick<Ids, 'uuid'>;
}

export function templatePageRoutes(pages: TemplatePages): readonly AnyRoute[] {
  return [...listRoutes(pages), ...editorRoutes(pages), ...routesOfUse(pages)];
}

function listRoutes({ templates }: TemplatePages): readonly AnyRoute[] {
  return [
    accountGet({
      path: PATH,
      summary: 'A page for users: the templates of the organization.',
      description: 'The query has the filters of the list.',
      auth: 'user',
      async handle({ page, user, query }) {
        const { q, cursor: asked = 'start' } = listQuery.parse(query);
        const position = positionIn(asked, { q });
        const { items, next } = await templates.list(user.tenant, {
          limit: PAGE_SIZE,
          offset: 0,
          order: 'Desc',
          position,
          q: q === '' ? undefined : q,
        });
        const more = cursorOf(next, { q });
        const given: [string, string][] = q === '' ? [] : [['q', q]];
        return accountReply(
          200,
          templatesPage(page, user, {
            q,
            items,
            isFirst: position === 'start',
            notice: doneNotice(page, query),
            next: more === null ? undefined : `${PATH}?${new URLSearchParams([...given, ['cursor', more]])}`,
          }),
        );
      },
    }),
    accountPost({
      path: `${PATH}/{id}/removal`,
      summary: 'Deletes a template with all its versions.',
      description: 'Documents created from it do not change.',
      auth: 'user',
      params: idParams,
      body: z.object({}),
      async handle({ page, user, params }) {
        await templates.remove(user.tenant, params.id);
        return redirect(302, addressFrom(page, `${PATH}?done=removed`));
      },
    }),
    accountPost({
      path: '/account/documents/{id}/template',
      summary: 'Creates a template from a document.',
      description: 'The rules are those of `POST /api/templates/from-document`.',
      auth: 'user',
      params: idParams,
      body: z.object({ name: formText }),
      async handle({ page, user, params, body }) {
        const { id } = await templates.createOfDocument(user.tenant, documentId(params.id), body);
        return redirect(302, addressFrom(page, `${PATH}/${id}?done=saved`));
      },
    }),
  ];
}

function editorRoutes({ templates }: TemplatePages): readonly AnyRoute[] {
  return [
    accountGet({
      path: `${PATH}/new`,
      summary: 'A page for users: the editor of a new template.',
      description: 'The script of the page reads files with the API and the session.',
      auth: 'user',
      handle: ({ page, user }) => {
        const settings = { name: '', description: '', expirationDays: null, version: 0 };
        const template = { ...settings, document: {}, locations: {} };
        return accountReply(200, editorPage(page, user, { template }));
      },
    }),
    accountGet({
      path: `${PATH}/{id}/edit`,
      summary: 'A page for users: the editor of a new version of a template.',
      description:
        'Saving adds a version. An unknown template, or one of another organization, is answered with 404.',
      auth: 'user',
      params: idParams,
      async handle({ page, user, params }) {
        const { id, name, description, expirationDays, version, document } = await templates.get(
          user.tenant,
          params.id,
          null,
        );
        const locations = await templates.locations(user.tenant, id);
        const template = { id, name, description: description ?? '', expirationDays, version };
        return accountReply(200, editorPage(page, user, { template: { ...template, document, locations } }));
      },
    }),
  ];
}

function routesOfUse({ templates, idempotency, ids }: TemplatePages): readonly AnyRoute[] {
  const show = async (
    page: AccountPage,
    user: SignedInUser,
    id: string,
    more: {
      readonly version: number | null;
      readonly values?: Readonly<Record<string, string>>;
      readonly notice?: AccountNotice | undefined;
    },
  ) => {
    const { version, values = {}, notice } = more;
    const { document, ...template } = await templates.get(user.tenant, id, version);
    const request = requestOf(document);
    const folderId = folderOf(request);
    return templatePage(page, user, {
      template,
      values,
      notice,
      request,
      versions: await templates.versions(user.tenant, id),
      mayUse: mayUse(user, document),
      mayChange:
        maySend(user.role, PATH) && mayChange(user.tenant, { folderId, createdBy: template.createdBy }),
      key: ids.uuid(),
    });
  };
  return [
    accountGet({
      path: `${PATH}/{id}`,
      summary: 'A page for users: the form that creates documents from a template, and its versions.',
      description:
        'The form has an input for each role and for each value of the sender. An unknown template, or one of another organization, is answered with 404.',
      auth: 'user',
      params: idParams,
      async handle({ page, user, params, query }) {
        const version = versionQuery.parse(query['version'] ?? null);
        const notice = doneNotice(page, query);
        return accountReply(200, await show(page, user, params.id, { version, notice }));
      },
    }),
    accountPost({
      path: `${PATH}/{id}/documents`,
      summary: 'Creates documents from a template.',
      description:
        'The rules are those of `POST /api/templates/{id}/documents`; the form has an idempotency key, so that a form that is sent twice creates the documents once.',
      auth: 'user',
      params: idParams,
      body: useBody,
      async handle({ page, user, params, body }) {
        const id = params.id.toLowerCase();
        const { key, ...given } = body;
        const version = versionQuery.parse(given.version);
        try {
          const view = await templates.get(user.tenant, id, version);
          const request = {
            route: `POST ${PATH}/{id}/documents`,
            key,
            fingerprint: fingerprintOf([id, given]),
          };
          const make = (seed?: string) =>
            templates.createDocuments(user.tenant, id, filledIn(view, given), seed);
          const made: readonly Pick<CreatedDocument, 'documentId'>[] = await withIdempotency(
            idempotency,
            user.tenant,
            request,
            async (seed) => (await make(seed)).map(({ documentId }) => ({ documentId })),
          );
          const [first] = made;
          const isOne = made.length === 1 && first !== undefined;
          const path = isOne ? `/account/documents/${first.documentId}?done=sent` : '/account/documents';
          return redirect(302, addressFrom(page, path));
        } catch (error) {
          if (!(error instanceof PortalRefusal) || error.code === 'TemplateNotFound') throw error;
          const notice = refusalNotice(page, error);
          return accountReply(422, await show(page, user, id, { version, values: textsOf(given), notice }));
        }
      },
    }),
  ];
}

function requestOf(document: unknown) {
  return parsedInput(newDocuments, document);
}

function folderOf({ folderId }: ReturnType<typeof requestOf>): string | null {
  return folderId?.toLowerCase() ?? null;
}

/** True when the user may create documents of a template. @param document its saved request */
export function mayUse({ role, tenant }: SignedInUser, document: unknown): boolean {
  return maySend(role, PATH) && reachesFolder(tenant, folderOf(requestOf(document)), 'Send');
}

type TemplateForm = Omit<z.infer<typeof useBody>, 'key'>;

/** The request of the form: inputs of roles and fields are numbered as on the page. */
function filledIn({ document, version, roles }: TemplateView, given: TemplateForm) {
  const values = textsOf(given);
  const request = requestOf(document);
  const entries = senderFields(request).flatMap(({ name, type }, index): [string, string | boolean][] => {
    const value = values[`value-${index}`] ?? '';
    if (type === 'Checkbox') return [[name.trim(), value === 'true']];
    return value.trim() === '' ? [] : [[name.trim(), value]];
  });
  const description = values['description']?.trim();
  return {
    version,
    documentName: hasOneName(request) ? values['documentName']?.trim() || null : null,
    properties: { ...(description !== undefined && description !== '' && { description }) },
    participants: roles.map((role, index) => ({
      role,
      user: {
        name: values[`name-${index}`]?.trim() ?? '',
        email: values[`email-${index}`]?.trim() ?? '',
        language: LANGUAGES.find((language) => language === values[`language-${index}`]) ?? null,
      },
    })),
    fieldValues: Object.fromEntries(entries),
  };
}

function textsOf(given: TemplateForm): Readonly<Record<string, string>> {
  const texts = Object.entries(given).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}

/** The message of the service, which is in English, with the roles and fields that it names. */
function refusalNotice(page: AccountPage, { message, details }: PortalRefusal): AccountNotice {
  const { templates } = TEXTS[page.words.language].senders;
  const named = Object.entries(details ?? {}).map(([name, fault]) => `${name}: ${fault}`);
  return {
    kind: 'bad',
    text: filled(templates.failed, { reason: [message, ...named.slice(0, 5)].join(' ') }),
  };
}

function doneNotice(
  page: AccountPage,
  query: { readonly [name: string]: unknown },
): AccountNotice | undefined {
  const done = DONE.find((name) => name === query['done']);
  return done && { kind: 'good', text: TEXTS[page.words.language].senders.templates[done] };
}
