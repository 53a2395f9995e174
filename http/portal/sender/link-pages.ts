/**
 * `/account/links`: pages on which a signed-in user makes links of templates for anybody, shows their addresses, and ends them.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */

import type { Ids } from '@sealwright/runtime';
import { z } from 'zod';
import {
  type IdempotentRequests,
  type PublicLinks,
  parsedInput,
  type SignedInUser,
  type Templates,
} from '../../../actors/portal/api.ts';
import { senderFields } from '../../../contracts/portal/flow.ts';
import { newDocuments } from '../../../contracts/portal/new-documents.ts';
import {
  createPublicLink,
  openLinkDevice,
  type PublicLinkView,
} from '../../../contracts/portal/saved-requests/public-links.ts';
import type { TemplateView } from '../../../contracts/portal/saved-requests/templates.ts';
import { TEXTS } from '../../../contracts/texts/texts.ts';
import {
  type AccountNotice,
  type AccountPage,
  addressFrom,
} from '../../../web/pages/portal/account-frame.ts';
import { HERE_PATH } from '../../../web/pages/portal/forms/public-link-view.tsx';
import { LINKS_PATH, linksPage, linkView } from '../../../web/pages/portal/sender/links-view.tsx';
import { fingerprintOf } from '../../core/body/json-body.ts';
import { redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { accountGet, accountPost, accountReply, formText } from '../accounts/account-route.ts';
import { accountForm } from '../accounts/outcomes.ts';
import { withIdempotency } from '../idempotency.ts';
import { idParams } from '../input/ids.ts';
import { cursorOf, positionIn } from '../input/query-fields.ts';
import { deviceHeaders, type HerePages } from '../pages/here-page.ts';
import { inputs, listQuery, MAX_FIELDS, MAX_ROLES, mayUse, PAGE_SIZE } from './template-pages.ts';

const OF_TEMPLATE = '/account/templates/{id}/links';
const DONE = ['made', 'ended', 'deviceEnded'] as const;

const newBody = z.object({
  key: formText,
  name: formText,
  role: formText,
  contact: formText,
  mostDocuments: formText,
  mostPerPerson: formText,
  endDate: formText,
  language: formText,
  returnUrl: formText,
  ...inputs('name', MAX_ROLES),
  ...inputs('email', MAX_ROLES),
  ...inputs('field', MAX_FIELDS),
});
type NewBody = z.infer<typeof newBody>;

export interface LinkPages extends Pick<HerePages, 'linkDevices' | 'signIn'> {
  readonly publicLinks: PublicLinks;
  readonly templates: Templates;
  readonly idempotency: IdempotentRequests;
  readonly ids: Pick<Ids, 'uuid'>;
}

export function linkPageRoutes(pages: LinkPages): readonly AnyRoute[] {
  return [
    listRoute(pages),
    templateRoute(pages),
    createRoute(pages),
    linkRoute(pages),
    endRoute(pages),
    openDeviceRoute(pages),
    endDeviceRoute(pages),
  ];
}

function listRoute({ publicLinks }: LinkPages): AnyRoute {
  return accountGet({
    path: LINKS_PATH,
    summary: 'A page for users: the links for anybody of the organization.',
    description: 'The query has the filters of the list.',
    auth: 'user',
    async handle({ page, user, query }) {
      const { q, ...list } = await listed(publicLinks, user, query);
      return accountReply(200, linksPage(page, user, { ...list, q }));
    },
  });
}

/** One page of a list, with the address of the next. */
async function listed(
  publicLinks: PublicLinks,
  { tenant }: SignedInUser,
  query: { readonly [name: string]: unknown },
  templateId?: string,
) {
  const { q, cursor: asked = 'start' } = listQuery.parse(query);
  const filter = { q, templateId };
  const position = positionIn(asked, filter);
  const { items, next } = await publicLinks.list(tenant, {
    limit: PAGE_SIZE,
    offset: 0,
    order: 'Desc',
    position,
    templateId,
    q: q === '' ? undefined : q,
  });
  const more = cursorOf(next, filter);
  const given: [string, string][] = q === '' ? [] : [['q', q]];
  return {
    q,
    items,
    isFirst: position === 'start',
    ...(more !== null && { next: `${new URLSearchParams([...given, ['cursor', more]])}` }),
  };
}

async function show(
  { publicLinks, templates, ids }: LinkPages,
  page: AccountPage,
  user: SignedInUser,
  {
    id,
    query = {},
    notice,
  }: {
    readonly id: string;
    readonly query?: { readonly [name: string]: unknown };
    readonly notice?: AccountNotice;
  },
) {
  const template = await templates.get(user.tenant, id, null);
  const { q: _, ...list } = await listed(publicLinks, user, query, template.id);
  return accountReply(
    200,
    linksPage(page, user, {
      ...list,
      notice,
      of: {
        template,
        fields: senderFields(parsedInput(newDocuments, template.document)),
        mayUse: mayUse(user, template.document),
        takesPhones: publicLinks.takesPhones,
        key: ids.uuid(),
      },
    }),
  );
}

function templateRoute(pages: LinkPages): AnyRoute {
  return accountGet({
    path: OF_TEMPLATE,
    summary: 'A page for users: the links for anybody of a template, and the form of a new one.',
    description: 'An unknown template, or one of another organization, is answered with 404.',
    auth: 'user',
    params: idParams,
    handle: ({ page, user, params, query }) => show(pages, page, user, { id: params.id, query }),
  });
}

function createRoute(pages: LinkPages): AnyRoute {
  const { publicLinks, templates, idempotency } = pages;
  return accountForm({
    path: OF_TEMPLATE,
    summary: 'Creates a link for anybody.',
    description:
      'The rules are those of `POST /api/public-links`; the form has an idempotency key, so that a form that is sent twice makes one link.',
    auth: 'user',
    params: idParams,
    body: newBody,
    async act({ page, user, params, body }) {
      const { key, ...given } = body;
      const template = await templates.get(user.tenant, params.id, null);
      const wanted = parsedInput(createPublicLink.body, requestOf(template, given));
      const request = {
        route: `POST ${OF_TEMPLATE}`,
        key: key === '' ? undefined : key,
        fingerprint: fingerprintOf([template.id, given]),
      };
      const { id }: Pick<PublicLinkView, 'id'> = await withIdempotency(
        idempotency,
        user.tenant,
        request,
        async (seed) => ({ id: (await publicLinks.create(user.tenant, wanted, seed)).id }),
      );
      return redirect(302, addressFrom(page, `${LINKS_PATH}/${id}?done=made`));
    },
    again: (notice, { page, user, params }) => show(pages, page, user, { id: params.id, notice }),
    sent: ({ page, params, body }) => {
      const { faults } = TEXTS[page.words.language].senders.links;
      return {
        action: `/account/templates/${params.id}/links`,
        values: textsOf(body),
        faults: {
          Name: ['name', faults.name],
          MostDocuments: ['mostDocuments', faults.number],
          MostPerPerson: ['mostPerPerson', faults.number],
          EndDate: ['endDate', faults.endDate],
          InvalidBranding: ['returnUrl', faults.returnUrl],
          ReturnUrl: ['returnUrl', faults.returnUrl],
        },
      };
    },
  });
}

/** The request of the form: inputs of roles and fields are numbered as on the page. */
function requestOf({ id, document, roles }: TemplateView, given: Omit<NewBody, 'key'>) {
  const values = textsOf(given);
  const text = (name: string) => values[name]?.trim() || null;
  const count = (name: string) => (text(name) === null ? null : Number(text(name)));
  const visitor = roles[Number(given.role)] ?? '';
  const fields = senderFields(parsedInput(newDocuments, document));
  return {
    name: given.name,
    templateId: id,
    role: visitor,
    participants: roles.flatMap((role, index) =>
      role === visitor
        ? []
        : [{ role, user: { name: text(`name-${index}`), email: text(`email-${index}`) } }],
    ),
    contact: text('contact'),
    fields: fields.filter((_, index) => text(`field-${index}`) !== null).map(({ name }) => name.trim()),
    mostDocuments: count('mostDocuments'),
    mostPerPerson: count('mostPerPerson'),
    endDate: text('endDate'),
    language: text('language'),
    returnUrl: text('returnUrl'),
  };
}

function textsOf(given: Partial<NewBody>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

async function showLink(
  { publicLinks }: LinkPages,
  page: AccountPage,
  user: SignedInUser,
  { id, notice }: { readonly id: string; readonly notice: AccountNotice | undefined },
) {
  const shown = await publicLinks.shown(user.tenant, id);
  return accountReply(200, linkView(page, user, { ...shown, notice }));
}

function linkRoute(pages: LinkPages): AnyRoute {
  return accountGet({
    path: `${LINKS_PATH}/{id}`,
    summary: 'A page for users: a link for anybody with its address, its QR code and its use.',
    description: 'An unknown link, or one of another organization, is answered with 404.',
    auth: 'user',
    params: idParams,
    async handle({ page, user, params, query }) {
      const done = DONE.find((name) => name === query['done']);
      const text = done && TEXTS[page.words.language].senders.links.done[done];
      const notice = text === undefined ? undefined : ({ kind: 'good', text } as const);
      return showLink(pages, page, user, { id: params.id, notice });
    },
  });
}

function endRoute({ publicLinks }: LinkPages): AnyRoute {
  return accountPost({
    path: `${LINKS_PATH}/{id}/end`,
    summary: 'Ends a link for anybody.',
    description: 'Documents that were made with it do not change.',
    auth: 'user',
    params: idParams,
    body: z.object({}),
    async handle({ page, user, params }) {
      await publicLinks.end(user.tenant, params.id);
      return redirect(302, addressFrom(page, `${LINKS_PATH}/${params.id}?done=ended`));
    },
  });
}

function openDeviceRoute(pages: LinkPages): AnyRoute {
  const { linkDevices } = pages;
  return accountForm({
    path: `${LINKS_PATH}/{id}/devices`,
    summary: 'Makes this browser a device at which persons sign one after the other.',
    description:
      'The rules are those of `POST /api/public-links/{id}/devices`. The session ends, and the browser goes to the page for the first person.',
    auth: 'user',
    params: idParams,
    body: z.object({ pin: formText }),
    async act({ user, params, body, caller, cookies }) {
      const wanted = parsedInput(openLinkDevice.body, body);
      const { url } = await linkDevices.open(user.tenant, params.id, wanted);
      const address = new URL(url).searchParams.get('ticket') ?? '';
      const { https } = caller;
      return redirect(302, HERE_PATH, await deviceHeaders(pages, address, { https, cookies }));
    },
    again: (notice, { page, user, params }) => showLink(pages, page, user, { id: params.id, notice }),
    sent: ({ page, params }) => ({
      action: `${LINKS_PATH}/${params.id}/devices`,
      values: {},
      faults: { Pin: ['pin', TEXTS[page.words.language].senders.links.faults.pin] },
    }),
  });
}

function endDeviceRoute({ linkDevices }: LinkPages): AnyRoute {
  return accountPost({
    path: `${LINKS_PATH}/{id}/devices/{device}/end`,
    summary: 'Ends a device, wherever it is.',
    description: 'What a person has begun to sign there is canceled.',
    auth: 'user',
    params: idParams.extend({ device: z.string().max(64) }),
    body: z.object({}),
    async handle({ page, user, params }) {
      await linkDevices.end(user.tenant, params.id, params.device);
      return redirect(302, addressFrom(page, `${LINKS_PATH}/${params.id}?done=deviceEnded`));
    },
  });
}
