/** `/account/documents`: the list of documents and drafts, and the wait for a change of them. */
import type { Clock } from '@sealwright/runtime';
import { z } from 'zod';
import {
  type BrandingService,
  type DocumentService,
  type Drafts,
  type Folders,
  mayGrant,
  type SenderOverview,
  type SignedInUser,
  type Tenant,
  type UserDirectory,
} from '../../../actors/portal/api.ts';
import { setFolderGrants } from '../../../contracts/portal/folder-grants.ts';
import { cursor } from '../../../contracts/portal/lists.ts';
import { LIST_STATUSES } from '../../../contracts/portal/words.ts';
import { TEXTS } from '../../../contracts/texts/texts.ts';
import { parseEnd, parseMoment } from '../../../contracts/times.ts';
import { maySend } from '../../../machines/portal/accounts/user-rights.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { type AccountPage, addressFrom } from '../../../web/pages/portal/account-frame.ts';
import type { FirstSteps } from '../../../web/pages/portal/sender/documents.tsx';
import { documentsPage } from '../../../web/pages/portal/sender/documents-page.tsx';
import { FOLDERS_OFFERED } from '../../../web/pages/portal/sender/folder-options.tsx';
import { json, redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { CHANGES_PATH } from '../access-check.ts';
import { accountGet, accountPost, accountReply } from '../accounts/account-route.ts';
import { idParams } from '../input/ids.ts';
import { cursorOf, positionIn } from '../input/query-fields.ts';
import { mayCall } from '../key-scopes.ts';

/** Services that lists of senders read. */
export interface ListServices {
  readonly documents: DocumentService;
  readonly senderOverview: SenderOverview;
  readonly drafts: Drafts;
  readonly folders: Folders;
  readonly branding: Pick<BrandingService, 'get'>;
  readonly users: Pick<UserDirectory, 'members'>;
}

const PAGE_SIZE = 25;
const DRAFTS_SHOWN = 50;
/** Longest wait of a page for a change, milliseconds. */
const LONGEST_WAIT_MS = 20_000;

const SHOWN = ['mine', 'others', 'expiring', 'concluded', 'ended', 'drafts', ''] as const;

/** Filters of the address; what cannot be read counts as absent. */
const filterQuery = z.object({
  show: z.enum(SHOWN).catch(''),
  q: z.string().max(200).catch(''),
  status: z.enum(LIST_STATUSES).or(z.literal('')).catch(''),
  folder: z.uuid().or(z.literal('')).catch(''),
  from: z.iso.date().or(z.literal('')).catch(''),
  to: z.iso.date().or(z.literal('')).catch(''),
  order: z.enum(['Asc', '']).catch(''),
  cursor: cursor.catch('start'),
});

export function documentListRoutes(services: ListServices, clock: Pick<Clock, 'now'>): readonly AnyRoute[] {
  const { drafts, senderOverview } = services;
  return [
    accountGet({
      path: '/account/documents',
      summary: 'A page for users: the documents of the organization and the drafts.',
      description: 'The query has the filters of the list.',
      auth: 'user',
      async handle({ page, user, query }) {
        return accountReply(
          200,
          documentsPage(page, user, await listData(services, clock, { page, user, query })),
        );
      },
    }),
    accountGet({
      path: CHANGES_PATH,
      summary: 'Waits until a document of the organization has changed.',
      description:
        'For the scripts of the pages: answers with a version that differs from `after`, or with the same one after 20 seconds.',
      auth: 'user',
      reply: z.object({ version: z.string().describe('Differs after each change.') }),
      async handle({ user, query }) {
        const after = String(query['after'] ?? '').slice(0, 100);
        return json(200, { version: await senderOverview.wait(user.tenant, after, LONGEST_WAIT_MS) });
      },
    }),
    accountPost({
      path: '/account/documents/sample',
      summary: 'Makes a draft with a sample contract, which the user signs.',
      description: 'The reply leads to the editor of the draft; nothing is sent.',
      auth: 'user',
      body: z.object({}),
      async handle({ page, user }) {
        const { sampleName } = TEXTS[page.words.language].senders.list.setup;
        const { id } = await drafts.createSample(user.tenant, sampleName, user);
        return redirect(302, addressFrom(page, `/account/documents/drafts/${id}`));
      },
    }),
    accountPost({
      path: '/account/documents/drafts/{id}/remove',
      summary: 'Deletes a draft.',
      description: 'Its uploads are no longer kept.',
      auth: 'user',
      params: idParams,
      body: z.object({}),
      async handle({ page, user, params }) {
        await drafts.remove(user.tenant, params.id);
        return redirect(302, addressFrom(page, '/account/documents?show=drafts'));
      },
    }),
  ];
}

async function listData(
  services: ListServices,
  clock: Pick<Clock, 'now'>,
  {
    page,
    user,
    query,
  }: {
    readonly page: AccountPage;
    readonly user: SignedInUser;
    readonly query: { readonly [name: string]: unknown };
  },
): Promise<Parameters<typeof documentsPage>[2]> {
  const { senderOverview, drafts, folders } = services;
  const { cursor: given = 'start', ...filters } = filterQuery.parse(query);
  const position = positionOf(given, filters);
  const { show, q, status, folder, from, to, order } = filters;
  const { tenant, email, formToken } = user;
  const [found, counts, kept, known] = await Promise.all([
    senderOverview.list(tenant, email, {
      limit: PAGE_SIZE,
      newestFirst: order !== 'Asc',
      position,
      kind: show === '' || show === 'drafts' ? undefined : show,
      ...(q !== '' && { q, queryType: 'Any' as const, findsPeople: true }),
      ...(status !== '' && { status }),
      ...(folder !== '' && { folderId: folder }),
      createdFrom: parseMoment(from),
      createdTo: parseEnd(to),
    }),
    senderOverview.counts(tenant, email),
    drafts.newest(tenant, DRAFTS_SHOWN),
    folderNames(folders, tenant),
  ]);
  const next = cursorOf(found.next, filters);
  const sent = Object.entries({ ...filters, culture: page.culture ?? '' }).filter(
    ([, value]) => value !== '',
  );
  const { list, statuses, newDocument, editor } = TEXTS[page.words.language].senders;
  const { failed, unreachable, signedOut, refusals } = editor.script;
  return {
    language: page.words.language,
    culture: page.culture ?? '',
    now: clock.now(),
    texts: { list, statuses, newDocument },
    words: { failed, unreachable, signedOut, refusals },
    filters,
    counts,
    formToken,
    items: found.items,
    totalCount: found.totalCount,
    draftsCount: kept.totalCount,
    drafts: kept.items.map(({ id, name, updateDate, mayChange }) => ({ id, name, updateDate, mayChange })),
    folders: known,
    maySend: maySend(user.role, '/account/documents'),
    mayGrant: folder !== '' && mayCall(tenant, setFolderGrants) && mayGrant(tenant, folder),
    next: next === null ? null : String(new URLSearchParams([...sent, ['cursor', next]])),
    isFirst: position === 'start',
    firstSteps: await firstSteps(services, user, counts.all),
  };
}

/** Documents of an organization that has begun; its administrators need no first steps. */
const BEGUN = 10;

/** Steps of an administrator's first visit, with what is done of them. Undefined: all are, or the user takes none. */
async function firstSteps(
  { branding, users }: ListServices,
  user: SignedInUser,
  documents: number,
): Promise<FirstSteps | undefined> {
  if (user.role !== 'administrator' || documents >= BEGUN) return undefined;
  const { organization } = user.tenant;
  const { logo } = await branding.get(user.tenant);
  const { totalCount } = await users.members(organization.id, { q: undefined, limit: 1, offset: 0 });
  const steps = { logo: logo !== null, colleague: totalCount > 1, document: documents > 0 };
  return Object.values(steps).every(Boolean) ? undefined : steps;
}

/** Folders to choose from. */
export async function folderNames(folders: Folders, tenant: Tenant) {
  const { items } = await folders.list(tenant, {
    limit: FOLDERS_OFFERED,
    offset: 0,
    order: 'Asc',
    q: undefined,
  });
  return items.map(({ id, name }) => ({ id, name }));
}

/** A cursor of another list leads to the first page. */
function positionOf(given: Parameters<typeof positionIn>[0], filters: object) {
  try {
    return positionIn(given, filters) ?? 'start';
  } catch (error) {
    if (error instanceof PortalRefusal) return 'start';
    throw error;
  }
}
