/**
 * The portal's pages as each role, and in a folder with each right: what a page offers is what the person may do there, and
 * all of it. What is offered is sent. A new page or form fails the test until it is decided here.
 *
 * Source: docs/decisions/0277-scopes-and-roles-of-operators.md, docs/decisions/0288-rights-on-folders.md.
 */
import test from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import { type PageService, portalPageRoutes } from '../../../../http/portal/page-routes.ts';
import type { UserRole } from '../../../../machines/portal/accounts/portal-user.ts';
import { mayUsePage } from '../../../../machines/portal/accounts/user-rights.ts';
import { startProgram } from '../../../actors/portal/service.ts';
import { fileOf, flowActions, unknownIds } from './requests-by-id.ts';
import { ADMINISTRATOR, person, register, SENDER, type UserBrowser } from './users.ts';

const RIGHTS = ['Read', 'Send', 'Manage'] as const;
type Right = (typeof RIGHTS)[number];

interface Person {
  readonly name: string;
  readonly role: UserRole;
  /** Of a sender in the folder; undefined: the folder is hidden. */
  readonly right?: Right;
  readonly browser: UserBrowser;
}

const ROUTES = portalPageRoutes({} as PageService, { clock: systemClock, ids: systemIds })
  .filter(({ auth }) => auth === 'user' || auth === 'user-administrator')
  .map(({ method, path, auth }) => ({
    name: `${method} ${path}`,
    method,
    path,
    auth,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  }))
  // Fixed paths before those with parameters.
  .toSorted((one, other) => one.path.split('{').length - other.path.split('{').length);

/** Least right in the folder of what a form, a link or a button of a script is about. */
const NEEDS: { readonly [name: string]: Right } = {
  'GET /account/documents/{id}': 'Read',
  'POST /account/documents/{id}/cancel': 'Manage',
  'POST /account/documents/{id}/participants/{action}/remind': 'Manage',
  'POST /account/documents/{id}/remind': 'Manage',
  'POST /account/documents/{id}/mails/{mail}/resend': 'Manage',
  'POST /account/documents/{id}/template': 'Read',
  'GET /account/documents/drafts/{id}': 'Manage',
  'POST /account/documents/drafts/{id}/remove': 'Manage',
  'GET /account/templates/{id}': 'Read',
  'GET /account/templates/{id}/edit': 'Manage',
  'POST /account/templates/{id}/removal': 'Manage',
  'POST /account/templates/{id}/documents': 'Send',
  'GET /account/templates/{id}/bulk': 'Send',
  'GET /account/templates/{id}/bulk/table.csv': 'Send',
  'POST /account/templates/{id}/bulk/preview': 'Send',
  'GET /account/templates/{id}/bulk/{generation}': 'Read',
  'GET /account/templates/{id}/links': 'Read',
  'POST /account/templates/{id}/links': 'Send',
  'GET /account/links/{id}': 'Read',
  'POST /account/links/{id}/end': 'Manage',
  'POST /account/links/{id}/devices': 'Send',
  'POST /account/links/{id}/devices/{device}/end': 'Send',
  'the button move': 'Manage',
  'the button address': 'Manage',
  'the button replace': 'Manage',
  'the button link': 'Manage',
  'the button replace (version)': 'Manage',
  'the button folder-access': 'Manage',
};

/** Pages that only make something: links to them are for those who may send what they make. */
const MAKING =
  /^GET \/account\/(?:documents\/new|documents\/drafts\/\{id\}|templates\/new|templates\/\{id\}\/(?:edit|bulk|bulk\/table\.csv))$/;

/** Forms that no page below shows. */
const ELSEWHERE = [
  // Of second factors, a logo and an open session that nobody has here.
  'POST /account/second-factor/passkeys',
  'POST /account/second-factor/passkeys/name',
  'POST /account/second-factor/passkeys/removal',
  'POST /account/second-factor/recovery-codes',
  'POST /account/second-factor/removal',
  'POST /organization/branding/logo-removal',
  'POST /account/documents/{id}/participants/{action}/factor-reset/{person}',
  'POST /organization/users/{userId}/second-factor',
  'POST /organization/users/{userId}/sessions',
  // After a table is read; of mails that wait, deliveries that have ended, and many documents in progress.
  'POST /account/documents/{id}/mails/{mail}/resend',
  'POST /account/templates/{id}/bulk/documents',
  'POST /account/templates/{id}/bulk/{generation}/cancellation',
  'POST /organization/deliveries/{deliveryId}/resend',
  // Of a device that is open.
  'POST /account/links/{id}/devices/{device}/end',
  // Of organizations that have sent few documents, or none.
  'POST /account/documents/sample',
  // Of rules of retention and holds that nobody has here.
  'POST /organization/retention/rules/{folder}/{status}/removal',
  'POST /organization/retention/holds/{type}/{id}/removal',
  // The script of the button `link` calls it.
  'POST /account/documents/{id}/participants/{action}/link',
];

function mayFind({ role, right }: Pick<Person, 'role' | 'right'>, name: string): boolean {
  const route = ROUTES.find((one) => one.name === name);
  const isMade = route === undefined || MAKING.test(name) || route.method === 'POST';
  if (route !== undefined && !mayUsePage(role, route.auth, route.method, route.path)) return false;
  if (role === 'auditor' && isMade && !(route?.method === 'POST')) return false;
  const least = NEEDS[name];
  if (role !== 'sender' || least === undefined) return true;
  return right !== undefined && RIGHTS.indexOf(right) >= RIGHTS.indexOf(least);
}

/** Names of the forms, links and buttons that a person can use on a page, with the addresses of forms. */
function offered(html: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (method: string, address: string) => {
    const [path = ''] = address.replaceAll('&amp;', '&').split(/[?#]/);
    const route = ROUTES.find((one) => one.method === method && one.pattern.test(path));
    if (route !== undefined) found.set(route.name, path);
    else if (method === 'POST') found.set(`POST ${path}, which is unknown`, path);
  };
  for (const [, attributes = '', content = ''] of html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)) {
    const isLocked = content.includes('<fieldset class="locked" disabled');
    const action = / action="([^"]+)"/.exec(attributes)?.[1] ?? '';
    if (/ method="post"/.test(attributes) && !isLocked) add('POST', action);
  }
  for (const [, href = ''] of html.matchAll(/ href="(\/[^"]*)"/g)) add('GET', href);
  for (const [, what = ''] of html.matchAll(/ data-do="(\w+)"/g)) found.set(`the button ${what}`, '');
  if (html.includes(' id="replace"')) found.set('the button replace (version)', '');
  for (const [, id = ''] of html.matchAll(/ id="(folder-access|(?:remind|move|cancel)-selected)"/g))
    found.set(`the button ${id}`, '');
  return found;
}

test('each person finds on the pages what the role and the right permit, and all of it', async (t) => {
  const program = await startProgram(t);
  const { acme } = program;
  const chief = await person(program, 'chief', ADMINISTRATOR);
  const senders = await Promise.all(
    [...RIGHTS, undefined].map(async (right) => ({
      name: `a sender with ${right ?? 'no right'}`,
      role: 'sender' as const,
      right,
      who: await person(program, `sender-${right ?? 'none'}`.toLowerCase(), SENDER),
    })),
  );
  const auditor = await person(program, 'audit', { auditor: true });
  const people: readonly Person[] = [
    ...senders.map(({ name, role, right, who }) => ({
      name,
      role,
      browser: who.caller.browser,
      ...(right !== undefined && { right }),
    })),
    { name: 'an auditor', role: 'auditor', browser: auditor.caller.browser },
    { name: 'an administrator', role: 'administrator', browser: chief.caller.browser },
  ];

  const { id: folder } = await acme.post<{ id: string }>('/api/folders', { name: 'Place' });
  const table = await acme.upload({
    name: 'a.csv',
    type: 'text/csv',
    content: Buffer.from('Tenant.name,Tenant.email\nAna,ana@example.org\n'),
  });
  const ids = { ...unknownIds(), folder, upload: (await acme.upload()).id };
  const request = { files: [fileOf(ids)], flowActions, folderId: folder };
  const made = async (path: string, body: object) => (await acme.post<{ id: string }>(path, body)).id;
  const document = await acme.create(flowActions, {
    folderId: folder,
    disablePendingActionNotifications: true,
  });
  const draft = await made('/api/document-drafts', { name: 'Draft', document: request });
  const template = await made('/api/templates', {
    name: 'Template',
    document: { ...request, flowActions: [{ title: 'Tenant' }] },
  });
  const generation = await made(`/api/templates/${template}/generation`, {
    dataFile: { id: table.id, name: 'a.csv', contentType: 'text/csv' },
  });
  const link = await made('/api/public-links', { name: 'Link', templateId: template, role: 'Tenant' });
  const member = await register(program, 'spare@example.org', SENDER, 'Spare');
  const { browser } = chief.caller;
  await browser.submit('/organization/webhooks', { url: 'http://127.0.0.1:9/', authType: 'NoAuth' });
  const hook = /webhooks\/([0-9a-f-]{36})\/test/.exec(await browser.page('/organization'))?.[1] ?? '';
  t.is((await browser.submit(`/organization/webhooks/${hook}/test`)).status, 200);
  await browser.submit('/organization/signing-providers', {
    title: 'Trust',
    address: 'http://127.0.0.1:9/csc/v2',
    clientId: 'a',
    clientSecret: 'b',
  });
  const applications = await browser.page('/organization/applications');
  const application = /\/organization\/applications\/([0-9a-f-]{36})/.exec(applications)?.[1] ?? '';
  const grants = [
    { type: 'User', id: chief.id, right: 'Manage' },
    ...senders.flatMap(({ right, who }) =>
      right === undefined ? [] : [{ type: 'User', id: who.id, right }],
    ),
  ];
  t.is((await chief.caller.call('PUT', `/api/folders/${folder}/grants`, { grants })).status, 200);

  /** Addresses of each page. */
  const pages: { readonly [path: string]: readonly string[] } = {
    '/account': ['/account'],
    '/account/second-factor': ['/account/second-factor'],
    '/account/second-factor/passkeys': ['/account/second-factor/passkeys'],
    '/account/documents': ['', `?folder=${folder}`, '?show=drafts'].map(
      (more) => `/account/documents${more}`,
    ),
    '/account/documents/new': ['/account/documents/new'],
    '/account/documents/drafts/{id}': [`/account/documents/drafts/${draft}`],
    '/account/documents/{id}': [`/account/documents/${document}`],
    '/account/templates': ['/account/templates'],
    '/account/templates/new': ['/account/templates/new'],
    '/account/templates/{id}': [`/account/templates/${template}`],
    '/account/templates/{id}/edit': [`/account/templates/${template}/edit`],
    '/account/templates/{id}/bulk': [`/account/templates/${template}/bulk`],
    '/account/templates/{id}/bulk/table.csv': [`/account/templates/${template}/bulk/table.csv`],
    '/account/templates/{id}/bulk/{generation}': [`/account/templates/${template}/bulk/${generation}`],
    '/account/templates/{id}/links': [`/account/templates/${template}/links`],
    '/account/links': ['/account/links'],
    '/account/links/{id}': [`/account/links/${link}`],
    '/organization': ['/organization'],
    '/organization/users': ['/organization/users'],
    '/organization/users/{userId}': [`/organization/users/${member}`],
    '/organization/signing-providers': ['/organization/signing-providers'],
    '/organization/retention': ['/organization/retention'],
    '/organization/applications': ['/organization/applications'],
    '/organization/applications/{applicationId}': [`/organization/applications/${application}`],
    '/organization/branding': ['/organization/branding'],
    '/organization/branding/preview': ['/organization/branding/preview?about=sign'],
    '/organization/branding/signing-page': ['/organization/branding/signing-page'],
    // It waits for a change.
    '/account/changes': [],
  };
  const addresses = ROUTES.filter(({ method }) => method === 'GET').flatMap(({ path, auth }) => {
    const known = pages[path];
    if (known === undefined) throw new Error(`${path}: which address does it have?`);
    return known.map((address) => ({ address, path, auth }));
  });
  const shownTo = async (one: Person) => {
    const found = new Map<
      string,
      { readonly status: number; readonly offers: ReadonlyMap<string, string> }
    >();
    for (const { address } of addresses) {
      const answer = await one.browser.fetch(address);
      const text = await answer.text();
      found.set(address, { status: answer.status, offers: offered(answer.status === 200 ? text : '') });
    }
    return found;
  };
  const seen = new Map<Person, Awaited<ReturnType<typeof shownTo>>>();
  for (const one of people) seen.set(one, await shownTo(one));
  const all = [...seen.values()].at(-1) ?? new Map<string, never>();
  const forms = new Set([...all.values()].flatMap(({ offers }) => [...offers.keys()]));
  t.deepEqual(
    ROUTES.filter(({ method, name }) => method === 'POST' && !forms.has(name))
      .map(({ name }) => name)
      .toSorted(),
    ELSEWHERE.toSorted(),
    'forms that administrators find nowhere',
  );
  for (const name of Object.keys(NEEDS))
    if (!ELSEWHERE.includes(name)) t.true(forms.has(name), `${name} is on a page`);

  for (const [one, found] of seen) {
    for (const { address, path, auth } of addresses) {
      const { status = 0, offers = new Map() } = all.get(address) ?? {};
      const isHidden = one.role === 'sender' && one.right === undefined && /^\/account\/.*\{/.test(path);
      const mayLoad = mayUsePage(one.role, auth, 'GET', path);
      const name = `${address} as ${one.name}`;
      t.is(found.get(address)?.status, mayLoad ? (isHidden ? 404 : status) : 403, name);
      if (!mayLoad || isHidden) continue;
      // Languages of the page lead to it again.
      const others = (names: Iterable<string>) =>
        [...names].filter((offer) => offer !== `GET ${path}`).toSorted();
      const may = others([...offers.keys()].filter((offer) => mayFind(one, offer)));
      t.deepEqual(others(found.get(address)?.offers.keys() ?? []), may, name);
    }
  }

  // Nobody is refused what a page has offered. What ends something comes last, and the administrator, who may everything.
  const isEnd = (name: string) => /cancel|remov|revo|sessions|sign-out|\/end$/.test(name);
  for (const [one, found] of seen) {
    const sent = new Map([...found.values()].flatMap(({ offers }) => [...offers]));
    await one.browser.page('/account');
    for (const [name, address] of [...sent].toSorted(
      ([left], [right]) => Number(isEnd(left)) - Number(isEnd(right)),
    )) {
      // They end the session of the test.
      if (!name.startsWith('POST ') || /^POST \/(?:sign-out|account\/sessions)$/.test(name)) continue;
      const answer = await one.browser.post(address, { name: 'Copy', reason: 'No' });
      t.not(answer.status, 403, `${name} as ${one.name}`);
      await answer.arrayBuffer();
    }
  }
});
