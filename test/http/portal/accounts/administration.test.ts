/** Pages of administrators, over HTTP: what they do, for whom, and what the journal says. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import anyTest, { type TestFn } from 'ava';
import { PORTAL_WEBHOOKS } from '../../../../contracts/portal/webhooks/webhook-events.ts';
import { LANGUAGES } from '../../../../contracts/portal/words.ts';
import {
  type Client,
  type PortalProgram,
  SAMPLE,
  startProgram,
  until,
} from '../../../actors/portal/service.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { at as tagAt, pdf as tagged } from '../requests/tagged-files.ts';
import { ADMINISTRATOR, register, SENDER, signedIn, type UserBrowser } from './users.ts';

interface AdministrationContext {
  readonly program: PortalProgram;
  readonly browser: UserBrowser;
  readonly receiver: Server;
  readonly received: { readonly type: string }[];
  readonly hook: string;
}

const test = anyTest as TestFn<AdministrationContext>;
const shared = endedAfter(test);
test.before(async (t) => {
  const program = await startProgram(shared);
  const received: { readonly type: string }[] = [];
  const receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      received.push(JSON.parse(text));
      response.end('taken <b>');
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  shared.teardown(() => receiver.close());
  const { port } = receiver.address() as AddressInfo;
  await register(program, 'ana@example.org');
  const browser = await signedIn(program, 'ana@example.org');
  t.context = { program, browser, receiver, received, hook: `http://127.0.0.1:${port}/hook` };
});

test.serial('an administrator registers a webhook, tests it and resends a delivery', async (t) => {
  const { program, browser, received, hook } = t.context;
  const registered = await browser.submit('/organization/webhooks', { url: hook, authType: 'NoAuth' });
  t.is(registered.headers.get('location'), '/organization?done=webhookAdded');
  const text = await browser.page('/organization?done=webhookAdded');
  t.true(text.includes(hook));
  t.true(text.includes('The webhook is registered.'));
  const webhook = /\/organization\/webhooks\/([0-9a-f-]{36})\/test/.exec(text)?.[1] ?? '';
  const tested = await browser.submit(`/organization/webhooks/${webhook}/test`);
  t.is(tested.status, 200);
  t.true((await tested.text()).includes('answered with status 200'));
  t.true(PORTAL_WEBHOOKS.Test.payload.safeParse(received[0]).success, JSON.stringify(received[0]));

  // A real event, its attempts and its response.
  const id = await program.acme.create([{ user: { name: 'Bo', email: 'bo@example.org' } }]);
  await program.acme.send(`/api/documents/${id}/refusal`, { reason: 'No' });
  const deliveries = await until(async () => {
    const shown = await browser.page('/organization?status=Delivered');
    // The form for webhooks names the event, too; the response is in the list alone.
    return shown.includes('taken &lt;b>') ? shown : undefined;
  });
  t.true(deliveries.includes('taken &lt;b>'), 'the response is shown, escaped');
  const delivery = /\/organization\/deliveries\/([0-9a-f.-]+)\/resend/.exec(deliveries)?.[1] ?? '';
  const before = received.length;
  t.is((await browser.submit(`/organization/deliveries/${delivery}/resend`)).status, 302);
  await until(async () => (received.length > before ? true : undefined));

  t.is((await browser.submit(`/organization/webhooks/${webhook}/removal`)).status, 302);
  t.false((await browser.page('/organization')).includes(`/organization/webhooks/${webhook}/test`));
});

test.serial('an administrator creates a key, which is shown once, works, and is revoked', async (t) => {
  const { program, browser } = t.context;
  const added = await browser.submit('/organization/applications', { name: 'Shop' });
  const path = (added.headers.get('location') ?? '').split('?')[0] ?? '';
  t.regex(path, /^\/organization\/applications\/[0-9a-f-]{36}$/);
  const made = await browser.submit(`${path}/keys`, { scopeRead: 'yes', expiry: '2999-01-01' });
  t.is(made.status, 200);
  const shown = await made.text();
  const key = /class="new-key">(Shop\|[0-9a-f]{64})</.exec(shown)?.[1] ?? '';
  const call = (target: string, method = 'GET') =>
    fetch(`${program.url}${target}`, { method, headers: { 'x-api-key': key } });
  t.is((await call('/api/documents')).status, 200);
  t.is((await call('/api/uploads/bytes', 'POST')).status, 403, 'its scope is Read');
  const again = await browser.page(path);
  t.regex(again, /class="muted small"><bdi>Zoë/, 'whose key it is');
  t.false(again.includes(key));
  t.true(again.includes('<time datetime="2999-01-01T23:59:59'));
  t.is((await browser.submit(`${path}/keys`, { expiry: '2001-01-01' })).status, 422);
  await browser.submit(`${path}/keys`);
  const third = await browser.submit(`${path}/keys`);
  t.is(third.status, 422);
  t.true((await third.text()).includes('The application has two keys.'));
  const revocation = /action="(\/organization\/applications\/[^"]+\/revocation)"/.exec(again)?.[1] ?? '';
  t.is((await browser.submit(revocation)).status, 302);
  t.is((await call('/api/documents')).status, 401);
  t.false(again.includes('expires within 30 days'));
  const soon = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
  await browser.submit(`${path}/keys`, { expiry: soon });
  const warned = await browser.page(path);
  t.true(warned.includes('(expires within 30 days)'));
  const ending = warned.split('<tr>').find((row) => row.includes('(expires within 30 days)')) ?? '';
  await browser.submit(/action="(\/organization\/applications\/[^"]+\/revocation)"/.exec(ending)?.[1] ?? '');

  // A key that was made by the API for one folder is shown as such.
  const { administrator, acme } = program;
  const { items } = await administrator.get<{ items: readonly { id: string }[] }>(
    '/api/admin/organizations?q=Acme',
  );
  const { id: folder } = await acme.post<{ id: string }>('/api/folders', { name: 'Sales' });
  const keys = `/api/admin/organizations/${items[0]?.id}/applications/${path.split('/').at(-1)}/keys`;
  await administrator.post(keys, { folderIds: [folder] });
  const named = await browser.page(path);
  t.true(named.includes('<li><bdi>Sales</bdi></li>'));

  // A key that the page makes for folders reaches their documents only.
  const ofSales = named.split('<tr>').find((row) => row.includes('Sales')) ?? '';
  await browser.submit(/action="(\/organization\/applications\/[^"]+\/revocation)"/.exec(ofSales)?.[1] ?? '');
  const { id: inner } = await acme.post<{ id: string }>('/api/folders', { name: 'أرشيف', parentId: folder });
  t.true((await browser.page(path)).includes('<bdi>Sales / أرشيف</bdi>'));
  const restricted = await browser.submit(`${path}/keys`, { [`folder-${folder}`]: 'yes', scopeRead: 'yes' });
  const ofFolder = /class="new-key">(Shop\|[0-9a-f]{64})</.exec(await restricted.text())?.[1] ?? '';
  const seen = await fetch(`${program.url}/api/folders`, { headers: { 'x-api-key': ofFolder } });
  const { items: reached } = (await seen.json()) as { items: readonly { id: string }[] };
  t.deepEqual(
    reached.map(({ id }) => id),
    [folder],
    `not ${inner}`,
  );

  // Folders of other organizations, and things that are no folders, are refused.
  const foreign = await program.organization('Other folders');
  const { id: theirs } = await foreign.post<{ id: string }>('/api/folders', { name: 'Plans' });
  for (const id of [theirs, 'x', '../x'])
    t.is((await browser.submit(`${path}/keys`, { [`folder-${id}`]: 'yes' })).status, 422, id);
  const many = Array.from({ length: 21 }, (_, index) => [`folder-${index}`, 'yes']);
  t.is((await browser.submit(`${path}/keys`, Object.fromEntries(many))).status, 422);
  t.false((await browser.page(path)).includes('Plans'));

  // The form of a refused key keeps what was entered: without it the next attempt would make a key without limits.
  const fields = { [`folder-${folder}`]: 'yes', scopeRead: 'yes', expiry: '2001-01-01' };
  const refused = await (await browser.submit(`${path}/keys`, fields)).text();
  for (const kept of ['name="scopeRead" value="yes" checked', `name="folder-${folder}" value="yes" checked`])
    t.true(refused.includes(kept), kept);
  t.true(refused.includes('type="date" value="2001-01-01"'));
  t.false(refused.includes('name="scopeSign" value="yes" checked'));
});

test.serial('an administrator adds, changes and removes users, but not themselves', async (t) => {
  const { program, browser } = t.context;
  const fields = { name: 'Sam "S" <Sender>', email: 'sam@example.org', role: 'sender' };
  t.is((await browser.submit('/organization/users', fields)).status, 302);
  const sam = await signedIn(program, 'sam@example.org');
  t.is((await sam.fetch('/organization')).status, 403);
  t.is((await sam.submit('/organization/users', fields)).status, 403);
  const list = await browser.page('/organization/users');
  t.true(list.includes('Sam &quot;S&quot; &lt;Sender>'));
  const id = /\/organization\/users\/([0-9a-f-]{36})\/removal/.exec(list)?.[1] ?? '';
  t.is((await browser.submit(`/organization/users/${id}/role`, { role: 'administrator' })).status, 302);
  t.is((await sam.fetch('/account')).status, 302, 'another role needs another session');
  t.is((await browser.submit(`/organization/users/${id}/removal`)).status, 302);
  const own = await browser.submit('/organization/users', { ...fields, email: 'Ana@example.org' });
  t.is(own.status, 422);
  t.is((await browser.submit('/organization/users', { ...fields, email: 'none' })).status, 422);
});

test.serial(
  'a refused form marks each field at fault, and links to them in the order of the form',
  async (t) => {
    const { browser } = t.context;
    for (const [path, fields, atFault] of [
      ['/organization/users', { name: ' ', email: 'none' }, ['name', 'email']],
      ['/organization/users', { name: 'Sam', email: 'none' }, ['email']],
      [
        '/organization/webhooks',
        { url: 'none', authType: 'Bearer', secret: 'whsec_short' },
        ['url', 'token', 'secret'],
      ],
      [
        '/organization/branding/looks',
        { primaryColor: '#ffd700', headerColor: 'red', redirectOrigins: 'none', redirectUrl: 'none' },
        ['primaryColor', 'headerColor', 'redirectOrigins', 'redirectUrl'],
      ],
      [
        '/organization/branding/mail',
        { kind: 'pending', subject: '{nobody}', introduction: '{nobody}' },
        ['subject', 'introduction'],
      ],
    ] as const) {
      const answer = await browser.submit(path, fields);
      t.is(answer.status, 422, path);
      const text = await answer.text();
      const main = text.slice(text.indexOf('<main'));
      const named = (pattern: RegExp) => [...main.matchAll(pattern)].map(([, name]) => name);
      t.deepEqual(named(/<li><a href="#(\w+)"/g), [...atFault], `links of ${path}`);
      t.deepEqual(named(/<(?:input|textarea) id="(\w+)"[^>]* aria-invalid="true"/g), [...atFault], path);
      t.deepEqual(named(/<p class="error" id="(\w+)-error"/g), [...atFault], `texts of ${path}`);
      t.deepEqual(named(/<(?:input|textarea) id="(\w+)"[^>]* autofocus/g), [atFault[0]], `focus of ${path}`);
    }
    // A form that is about no field says what is wrong, and has the focus.
    const unknown = await (await browser.submit('/organization/users/none/removal')).text();
    t.regex(unknown, /<p class="outcome bad" role="alert" tabindex="-1" autofocus>There is no such user\./);
  },
);

/** Texts and labels of a page; scripts are left out. */
function textsOf(html: string): ReadonlySet<string> {
  const body = html.slice(html.indexOf('<main')).replace(/<script.*?<\/script>/gs, '');
  const labels = [...body.matchAll(/(?:aria-label|placeholder|title|alt)="([^"]*)"/g)].map(
    ([, text]) => text,
  );
  const texts = body.replace(/<[^>]*>/g, '\n').split('\n');
  return new Set(
    [...labels, ...texts].map((text) => text?.trim() ?? '').filter((text) => /\p{L}{3}/u.test(text)),
  );
}

test.serial('pages in other languages contain no English word', async (t) => {
  const { program, browser } = t.context;
  const { acme } = program;
  const group = {
    type: 'ApproverRule',
    ruleName: 'Ωmega',
    numberRequiredSignatures: 1,
    step: 2,
    signRuleUsers: [{ name: 'Ψ1', email: 'x1@x.example' }],
  };
  const people = [{ user: { name: 'Ψ2', email: 'x2@x.example' }, allowElectronicSignature: true }, group];
  const document = await acme.create(people, {}, { ...SAMPLE, name: 'Ψ3.pdf' });
  const refused = await acme.create(people, {}, { ...SAMPLE, name: 'Ψ3.pdf' });
  await acme.send(`/api/documents/${refused}/refusal`, { reason: 'Ψ' });
  const account = await browser.page('/account');
  t.false(account.includes('second-factor/passkeys'), 'browsers have no passkeys for a number');
  const saved = await browser.submit(`/account/documents/${document}/template`, { name: 'Ψ5' });
  const template = /\/account\/templates\/[0-9a-f-]+/.exec(saved.headers.get('location') ?? '')?.[0] ?? '';
  const applications = await browser.page('/organization/applications');
  const application = /href="(\/organization\/applications\/[0-9a-f-]+)"/.exec(applications)?.[1] ?? '';
  for (const path of [
    '/account',
    '/account/documents',
    '/account/documents/new',
    '/account/templates',
    template,
    '/account/templates/new',
    `${template}/edit`,
    `/account/documents/${document}?done=sent`,
    `/account/documents/${refused}`,
    '/organization',
    '/organization/applications',
    application,
    '/organization/branding',
    '/organization/signing-providers',
    '/organization/users',
    '/organization?done=webhookAdded',
    `${template}/bulk`,
  ]) {
    const shown = async (culture: string) =>
      textsOf(await browser.page(`${path}${path.includes('?') ? '&' : '?'}culture=${culture}`));
    const english = await shown('en');
    for (const culture of LANGUAGES.filter((language) => language !== 'en')) {
      const left = [...(await shown(culture))].filter(
        (text) =>
          english.has(text) &&
          !SAME.has(text.replace(/^\d+ /, '')) &&
          !DATA.some((data) => text.includes(data)),
      );
      t.deepEqual(left, [], `${path} ${culture}`);
    }
  }
});

/** Words that are the same in English and another of the languages. */
const SAME = new Set([
  'English',
  'Português',
  'Español',
  'Deutsch',
  'Français',
  'Italiano',
  'Logo',
  'Code',
  'Format',
  'Name',
  'Passkeys',
  'Person',
  'Status',
  'Version',
  'Actions',
  'Applications',
  'Date',
  'Document',
  'Documents',
  'documents',
  'File',
  'Message',
  'Page',
  'Pages',
  'Participants',
  'Signature',
  'Signatures',
  'Versions',
  'E-mail',
  'Roles',
  'Downloads',
  'Original',
  'URL',
  'normal',
  'Shop',
  'Menu',
  // This client in the list of sessions.
  'node',
  'Authorization: Basic',
  'Authorization: Bearer',
  'X-Api-Key',
]);
/** Parts of texts that are data of these tests, or names of the API. */
const DATA = [
  'أرشيف',
  // Sentences of attempts are those of the service, in its language.
  'The webhook was removed.',
  'Ψ',
  'Müller',
  'Ω',
  '@',
  '{',
  'Sales',
  'Acme',
  'Vertrag',
  'Document',
  'https:',
  'taken',
  'abab',
  '#',
  // Times.
  ' UTC',
];

test.serial('origins are validated, and the test mail reports its result', async (t) => {
  const { browser } = t.context;
  const bad = await browser.submit('/organization/origins', {
    origins: "https://ok.example\nhttps://x.example; script-src 'none'",
  });
  t.is(bad.status, 422);
  // No page has one of these as its origin, so each frame would be refused.
  for (const origins of ['https://*.ok.example', 'https://*', 'https://ok.example:443', 'ftp://ok.example'])
    t.is((await browser.submit('/organization/origins', { origins })).status, 422, origins);
  t.is((await browser.submit('/organization/origins', { origins: 'https://ok.example\r\n' })).status, 302);
  t.true((await browser.page('/organization')).includes('>https://ok.example</textarea>'));
  const longest = Array.from({ length: 50 }, (_, index) =>
    `https://${`${index}`.padStart(3, 'a')}.`.padEnd(255, 'b'),
  );
  const sent = await browser.submit('/organization/origins', { origins: `${longest.join('\r\n')}\r\n` });
  t.is(sent.status, 302, await sent.text());
  const shown = /<textarea id="origins"[^>]* maxlength="(\d+)"[^>]*>([^<]*)</.exec(
    await browser.page('/organization'),
  );
  t.deepEqual(shown?.[2]?.split('\n'), longest);
  t.true(Number(shown?.[1]) >= longest.join('\r\n').length, 'browsers accept the whole list');
  const tooMany = Array.from({ length: 51 }, (_, index) => `https://${index}.example`);
  for (const origins of [tooMany, [`${longest[0]}b`]])
    t.is((await browser.submit('/organization/origins', { origins: origins.join('\r\n') })).status, 422);
  t.is((await browser.submit('/organization/origins', { origins: 'https://ok.example' })).status, 302);
  const mailed = await browser.submit('/organization/mail-test');
  t.regex(await mailed.text(), /The mail server accepted the mail: Written to \S+\.eml\./);
});

test.serial('ids of another organization are unknown, and its pages show no data of it', async (t) => {
  const { program, browser, hook } = t.context;
  const other = await program.organization('Other');
  const webhooks = `/api/organizations/${other.organizationId}/webhooks`;
  const { id: webhook } = await other.post<{ id: string }>(webhooks, { url: hook });
  const person = { name: 'Secret Person', email: 'secret@example.org', accessProfile: SENDER };
  const { id: user } = await other.post<{ id: string }>('/api/organizations/users', person);
  const document = await other.create([{ user: { name: 'Bo', email: 'bo@example.org' } }]);
  await other.send(`/api/documents/${document}/refusal`, { reason: 'No' });
  const delivery = await until(async () => {
    const path = `/api/organizations/${other.organizationId}/deliveries`;
    const { items } = await other.get<{ items: readonly { id: string }[] }>(path);
    return items[0]?.id;
  });
  const path = `/api/admin/organizations/${other.organizationId}`;
  const whole = await program.administrator.get<{
    applications: readonly { id: string; keys: readonly { id: string }[] }[];
  }>(path);
  const application = whole.applications[0];
  const key = application?.keys[0]?.id ?? '';
  for (const target of [
    `/organization/webhooks/${webhook}/test`,
    `/organization/webhooks/${webhook}/removal`,
    `/organization/deliveries/${delivery}/resend`,
    `/organization/applications/${application?.id}/keys`,
    `/organization/applications/${application?.id}/keys/${key}/revocation`,
    `/organization/users/${user}/role`,
    `/organization/users/${user}/removal`,
  ]) {
    const answer = await browser.submit(target, { role: 'administrator' });
    t.is(answer.status, 422, target);
    t.false((await answer.text()).includes('Other App'), target);
  }
  const foreign = await browser.fetch(`/organization/applications/${application?.id}`);
  t.is(foreign.status, 422);
  for (const page of ['/organization', '/organization/users', '/organization/applications']) {
    const text = await browser.page(page);
    for (const word of ['Secret Person', 'secret@example.org', webhook, delivery, 'Other App'])
      t.false(text.includes(word), `${page}: ${word}`);
  }
  t.is((await other.fetch('/api/documents')).status, 200, 'the key is still good');
});

test.serial('an address of an unknown document or draft shows a page about it', async (t) => {
  const { program, browser } = t.context;
  const other = await program.organization('Third');
  const document = await other.create([{ user: { name: 'Bo', email: 'bo@example.org' } }]);
  const theirs = await templateOf(other);
  const own = await templateOf(program.acme);
  for (const path of [
    `/account/templates/${theirs}/bulk`,
    `/account/templates/${own}/bulk/${document}`,
    `/account/documents/${document}`,
    '/account/documents/none',
    `/account/documents/${'0'.repeat(65)}`,
    '/account/documents/drafts/none',
    `/account/documents/drafts/${document}`,
  ]) {
    const answer = await browser.fetch(`${path}?culture=en`);
    t.is(answer.status, 404, path);
    t.true((await answer.text()).includes('<h1>Page not found</h1>'), path);
  }
});

async function templateOf(client: Client, more: object = {}): Promise<string> {
  const { id, name, contentType } = await client.upload();
  const files = [{ id, displayName: 'Flat', name, contentType }];
  const document = { files, flowActions: [{ title: 'Tenant', allowElectronicSignature: true }], ...more };
  return (await client.post<{ id: string }>('/api/templates', { name: 'Flat', document })).id;
}

test.serial('a table of which no documents can be made is shown again with the reason', async (t) => {
  const { program, browser } = t.context;
  const { acme } = program;
  const folder = await acme.post<{ id: string }>('/api/folders', { name: 'Closed' });
  const path = `/account/templates/${await templateOf(acme, { folderId: folder.id })}/bulk`;
  const content = Buffer.from('tenant.name,tenant.email\r\nAna,ana@example.org');
  const { id, name, contentType } = await acme.upload({ name: 'people.csv', content, type: 'text/csv' });
  const table = { id, name, contentType, 'column-0': 'tenant.name', 'column-1': 'tenant.email' };
  const keyIn = (html: string) => /name="key" value="([^"]+)"/.exec(html)?.[1] ?? '';
  const preview = await browser.submit(`${path}/preview`, table);
  t.is(preview.status, 200);
  const first = await preview.text();
  t.true(first.includes('Send 1 document'));
  t.false(first.includes('id="refusal"'));
  await acme.post(`/api/folders/${folder.id}/delete`, { deleteAction: 'MoveContent' });
  const send = (key: string) => browser.submit(`${path}/documents`, { ...table, key });
  const refused = await send(keyIn(first));
  t.is(refused.status, 422);
  const second = await refused.text();
  t.regex(second, /id="refusal"[^>]*>[^<]*No folder has this id\./);
  t.true(second.includes('Send 1 document'));
  t.not(keyIn(second), keyIn(first));
});

test.serial(
  'faults of rows are in the language of the page, and earlier sends are listed with progress',
  async (t) => {
    const { program, browser } = t.context;
    const { acme } = program;
    const path = `/account/templates/${await templateOf(acme)}/bulk`;
    t.false((await browser.page(path)).includes('earlier-sends'));
    const content = Buffer.from('tenant.name,tenant.email\r\nAna,ana@example.org\r\nBo,nowhere');
    const { id, name, contentType } = await acme.upload({ name: 'people.csv', content, type: 'text/csv' });
    const table = { id, name, contentType, 'column-0': 'tenant.name', 'column-1': 'tenant.email' };
    const preview = await (await browser.submit(`${path}/preview?culture=es`, table)).text();
    t.regex(preview, /Fila 2<\/span> <bdi>Las personas o su orden[^<]*<\/bdi><div class="hint" lang="en"/);
    t.notRegex(await (await browser.submit(`${path}/preview`, table)).text(), /lang="en"><bdi>/);
    const [, key = ''] = /name="key" value="([^"]+)"/.exec(preview) ?? [];
    await browser.submit(`${path}/documents`, { ...table, key });
    // Two columns for the same are refused, and can be chosen again.
    const twice = { ...table, 'column-1': 'tenant.name', checked: '["tenant.name","tenant.email"]', key };
    const again = await browser.submit(`${path}/documents`, twice);
    t.is(again.status, 422);
    const html = await again.text();
    t.regex(html, /id="refusal"[^>]*>[^<]*Two columns of the table are used for the same\./);
    t.regex(html, /name="column-1"><option value>Not used<\/option><option value="tenant\.name">/);
    const other = `/account/templates/${await templateOf(acme)}/bulk`;
    t.false((await browser.page(other)).includes('earlier-sends'), 'those of another template');
    const listed = await until(async () => {
      const page = await browser.page(path);
      return page.includes('1 row becomes no document') ? page : undefined;
    });
    t.regex(listed, new RegExp(`id="earlier-sends"[^]*<a href="${path}/[-0-9a-f]{36}"`));
  },
);

/** Reads what a browser sends of the form with the columns of a table as it is shown. */
function columnsFormIn(html: string): Readonly<Record<string, string>> {
  const decoded = (text = '') => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  const hidden = (name: string) => decoded(new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1]);
  const selects = [...html.matchAll(/<select id="[^"]+" name="(column-\d+)">(.*?)<\/select>/gs)];
  const chosen = selects.map(([, name = '', options = '']): [string, string] => [
    name,
    decoded(
      /<option selected value="([^"]*)"|<option value="([^"]*)" selected/.exec(options)?.slice(1).join(''),
    ),
  ]);
  return { key: hidden('key'), checked: hidden('checked'), ...Object.fromEntries(chosen) };
}

test.serial('a column of a table fills the field that it names, also where labels repeat', async (t) => {
  const { program, browser } = t.context;
  const { acme } = program;
  const file = await acme.upload();
  const place = { topLeftX: 10, topLeftY: 10, width: 80, height: 20 };
  const field = (name: string, label: string) => ({ name, label, type: 'Text', ...place });
  const ofTenant = [field('from', 'Date'), field('to', 'Date'), field('one', 'two'), field('two', 'one')];
  // Names and labels of properties of the document are free for fields.
  const ofLandlord = [
    field('when', 'Date'),
    field('file-no', 'Your reference'),
    field('description', 'Note'),
  ];
  const document = {
    files: [{ id: file.id, displayName: 'Lease', name: file.name, contentType: file.contentType }],
    flowActions: [
      { title: 'Tenant', allowElectronicSignature: true, fields: ofTenant },
      { title: 'Landlord', allowElectronicSignature: true, fields: ofLandlord },
    ],
    disableNotifications: true,
  };
  const template = await acme.post<{ id: string }>('/api/templates', { name: 'Lease', document });
  const path = `/account/templates/${template.id}/bulk`;
  const people = {
    'tenant.name': 'Ana',
    'tenant.email': 'ana@example.org',
    'landlord.name': 'Bo',
    'landlord.email': 'bo@example.org',
  };
  const preview = async (given: Readonly<Record<string, string>>) => {
    const row = { ...people, ...given };
    const content = Buffer.from(JSON.stringify([row]));
    const { id } = await acme.upload({ name: 'people.json', content, type: 'application/json' });
    const table = { id, name: 'people.json', contentType: 'application/json' };
    const html = await (await browser.submit(`${path}/preview`, table)).text();
    return { html, form: { ...table, ...columnsFormIn(html) } };
  };
  const every = { from: 'A', to: 'B', when: 'C', 'file-no': 'D', description: 'E', one: 'F', two: 'G' };
  const cases: readonly Readonly<Record<string, string>>[] = [
    { from: 'A' },
    { when: 'C', 'file-no': 'D' },
    every,
  ];
  for (const given of cases) {
    const { form } = await preview(given);
    const sent = await browser.submit(`${path}/documents`, form);
    t.is(sent.status, 302, await sent.text());
    const generation = sent.headers.get('location')?.split('/').at(-1);
    const made = await until(async () => {
      const rows = `/api/documents/generation/${generation}/rows`;
      return (await acme.get<{ items: { documentIds: string[] }[] }>(rows)).items[0]?.documentIds[0];
    });
    const { flowActions, externalId } = await acme.get<{
      externalId: string | null;
      flowActions: { fields: { name: string; presetValue: string | null }[] }[];
    }>(`/api/documents/${made}`);
    const filled = flowActions
      .flatMap(({ fields }) => fields)
      .flatMap(({ name, presetValue }) => (presetValue === null ? [] : [[name, presetValue]]));
    t.deepEqual(Object.fromEntries(filled), given);
    t.is(externalId, null);
  }

  const { html, form } = await preview({ from: 'A', date: 'Z' });
  t.like(form, { 'column-4': 'from', 'column-5': '' }, 'a label of several fields names none of them');
  const options = /<select id="column-5".*?<\/select>/s.exec(html)?.[0] ?? '';
  t.deepEqual([...options.matchAll(/<option value="[^"]+">([^<]+)</g)].map(([, text]) => text).slice(-9), [
    'Date (from)',
    'Date (to)',
    'two',
    'one',
    'Date (when)',
    'Your reference (file-no)',
    'Note',
    'Title of the document',
    'Your reference (externalid)',
  ]);
  const empty = await browser.fetch(`${path}/table.csv`);
  t.is(
    await empty.text(),
    `"Tenant.name","Tenant.email","Landlord.name","Landlord.email","from","to","one","two","when","Your reference","Note"\r\n`,
  );
});

test.serial('a template whose files cannot be read has a form for tables, and no empty table', async (t) => {
  const { program, browser } = t.context;
  const { acme } = program;
  const file = tagged(tagAt(40, 400, '{{text:tenant:Rent}}'));
  const { id, name, contentType } = await acme.upload(file);
  const template = await acme.post<{ id: string }>('/api/templates', {
    name: 'Tagged',
    document: {
      files: [{ id, displayName: 'Lease', name, contentType }],
      flowActions: [{ title: 'Tenant', allowElectronicSignature: true }],
      textTags: true,
    },
  });
  const path = `/account/templates/${template.id}/bulk`;
  const empty = () => browser.fetch(`${path}/table.csv`);
  const first = await empty();
  const sha256 = createHash('sha256').update(file.content).digest('hex');
  writeFileSync(join(program.service.root, 'portal', 'blobs', sha256.slice(0, 2), sha256), 'no PDF');
  const form = await browser.page(path);
  t.regex(first.headers.get('content-disposition') ?? '', /filename="Tagged\.csv"/);
  t.is(await first.text(), '"Tenant.name","Tenant.email","Rent"\r\n');
  t.true(form.includes(`href="${path}/table.csv"`));
  t.is((await empty()).status, 422);
});

test.serial('each list of folders has more than 50', async (t) => {
  const { program, browser } = t.context;
  for (let made = 0; made < 60; made += 1)
    await program.acme.post('/api/folders', { name: `Shelf ${String(made).padStart(2, '0')}` });
  const id = await program.acme.create([{ user: { name: 'Bo', email: 'bo@example.org' } }]);
  for (const path of ['/account/documents', `/account/documents/${id}`]) {
    const html = await browser.page(path);
    t.regex(html, /"name":"Shelf 59"/, path);
    t.true((html.match(/\?folder=/g) ?? []).length <= 60, 'the navigation has the first');
  }
});

test.serial('filters of the address narrow each list of documents together', async (t) => {
  const { program, browser } = t.context;
  const people = [{ user: { name: 'Bo', email: 'bo@example.org' } }];
  const expirationDate = new Date(Date.now() + 3 * 86_400_000).toISOString();
  const east = 'In the east';
  const west = 'In the west';
  const both = 'For both';
  const of = (folder: string, name: string) =>
    program.acme.create(people, { expirationDate, newFolderName: folder }, { ...SAMPLE, name });
  const id = await of('East', east);
  await of('West', west);
  const ana = { user: { name: 'Ana', email: 'ana@example.org' } };
  const cleo = { user: { name: 'Cleo Ray', email: 'cleo@example.org' } };
  await program.acme.create([ana, cleo], {}, { ...SAMPLE, name: both });
  const { folder } = await program.acme.get<{ folder: { id: string } }>(`/api/documents/${id}`);
  const shown = async (query: string) => {
    const html = await browser.page(`/account/documents?${query}`);
    return [east, west, both].filter((name) => html.includes(name));
  };
  for (const [query, names] of [
    ['show=expiring', [east, west]],
    [`show=expiring&folder=${folder.id}`, [east]],
    ['show=expiring&status=Pending&from=2001-01-01', [east, west]],
    ['show=expiring&status=Concluded', []],
    ['show=expiring&to=2001-01-01', []],
    ['show=mine&q=Cleo+Ray', [both]],
    ['show=mine&q=nobody', []],
    ['show=others&status=Pending', [east, west, both]],
    ['show=others&status=Concluded', []],
    [`show=others&folder=${folder.id}`, [east]],
  ] as const)
    t.deepEqual(await shown(query), names, query);
});

test.serial('the navigation counts all drafts, of which the newest are listed', async (t) => {
  const { program, browser } = t.context;
  for (let made = 0; made < 51; made += 1)
    await program.acme.post('/api/document-drafts', { name: `Begun ${made}`, document: {} });
  const html = await browser.page('/account/documents?show=drafts');
  t.regex(html, /\?show=drafts"[^>]*>(?:(?!<\/a>).)*<span class="small">51</s);
});

test.serial('a wait for changes ends with those of its organization alone', async (t) => {
  const { program } = t.context;
  const member = async (name: string) => {
    const client = await program.organization(name);
    const email = `${name.toLowerCase()}@example.org`;
    await client.post('/api/organizations/users', { name, email, accessProfile: ADMINISTRATOR });
    const user = await signedIn(program, email);
    const version = async (after: string) => {
      const answer = await user.fetch(`/account/changes?after=${after}`);
      return ((await answer.json()) as { version: string }).version;
    };
    const create = () => client.create([{ user: { name: 'Bo', email: 'bo@example.org' } }]);
    return { version, create, known: await version('') };
  };
  const quiet = await member('Quiet');
  const busy = await member('Busy');
  let isTold = false;
  const told = quiet.version(quiet.known).then((version) => {
    isTold = true;
    return version;
  });
  const toldBusy = busy.version(busy.known);
  await busy.create();
  t.not(await toldBusy, busy.known);
  t.false(isTold);
  await quiet.create();
  t.not(await told, quiet.known);
});

test.serial('the pages of users have the branding of their organization', async (t) => {
  const { program, browser } = t.context;
  t.false((await browser.page('/account/documents')).includes('/document/branding/'));
  const id = await program.acme.create([{ user: { name: 'Bo', email: 'bo@example.org' } }]);
  const { organization } = await program.acme.get<{ organization: { id: string } }>(`/api/documents/${id}`);
  const path = `/api/organizations/${organization.id}/branding`;
  t.is((await program.acme.send(path, { primaryColor: '#7a1f5c' }, 'PUT')).status, 200);
  const styles = `/document/branding/${organization.id}/colors.css?v=7a1f5c`;
  for (const page of ['/account/documents', '/account/documents/new', '/organization'])
    t.true((await browser.page(page)).includes(styles), page);
});

test.serial('the page of mail texts accepts as many characters as the API', async (t) => {
  const { browser } = t.context;
  const save = async (subject: string, introduction: string) =>
    (await browser.submit('/organization/branding/mail', { kind: 'code', subject, introduction })).status;
  t.is(await save('x'.repeat(200), 'x'.repeat(2000)), 302);
  t.is(await save('x'.repeat(201), 'x'.repeat(2000)), 400);
  t.is(await save('x'.repeat(200), 'x'.repeat(2001)), 400);
  t.is(await save('x'.repeat(200), 'x\r\n'.repeat(1000)), 302, 'a line end counts once');
});

/** The element of a form that is marked as wrong, and the text that describes it. */
function faultIn(html: string): { readonly field: string; readonly text: string } {
  const field = /<(?:input|textarea)[^>]* aria-invalid="true"[^>]*>/.exec(html)?.[0] ?? '';
  const id = /aria-describedby="(?:[\w-]+ )?([\w-]+-error)"/.exec(field)?.[1] ?? 'none';
  const [, text = ''] = new RegExp(`id="${id}" role="alert"><svg.*?</svg>([^<]*)<`).exec(html) ?? [];
  return { field, text };
}

test.serial('refused forms keep what was entered, and mark the field at fault', async (t) => {
  const { browser, hook } = t.context;
  const refused = async (path: string, fields: Readonly<Record<string, string>>, body?: FormData) => {
    const answer = await (body === undefined
      ? browser.submit(path, fields)
      : browser.fetch(path, { method: 'POST', body }));
    t.is(answer.status, 422, path);
    const html = await answer.text();
    const { field, text } = faultIn(html);
    t.true(field.includes(' autofocus'), `${path}: ${field}`);
    t.is(html.split('role="alert"').length, 2, `${path}: one message`);
    return { html, name: / name="(\w+)"/.exec(field)?.[1], text };
  };
  const webhooks = '/organization/webhooks';
  const secrets = { token: 'token-0123', secret: 'whsec_short' };
  const first = await refused(webhooks, { url: hook, authType: 'Bearer', ...secrets });
  t.is(first.name, 'secret');
  t.regex(first.text, /^The secret is whsec_/);
  t.true(first.html.includes(`value="${hook}"`));
  t.true(first.html.includes('<option selected value="Bearer">'));
  t.true(first.html.includes('Enter token and secret again'));
  for (const secret of Object.values(secrets)) t.false(first.html.includes(secret));
  t.is((await refused(webhooks, { url: 'none "', authType: 'NoAuth' })).name, 'url');
  t.is((await refused(webhooks, { url: 'ftp://x.example', authType: 'NoAuth' })).name, 'url');
  t.is((await refused(webhooks, { url: hook, authType: 'Basic' })).name, 'token');

  await browser.submit(webhooks, { url: hook, authType: 'NoAuth' });
  const known =
    /\/organization\/webhooks\/[0-9a-f-]{36}/.exec(await browser.page('/organization'))?.[0] ?? '';
  const changed = { url: `${hook}/2`, authType: 'ApiKey', eventDocumentSigned: 'yes' };
  const edited = await refused(known, changed);
  t.is(edited.name, 'token');
  t.true(edited.html.includes('<details open>'));
  t.true(edited.html.includes(`value="${hook}/2"`));
  t.true(edited.html.includes('name="eventDocumentSigned" value="yes" checked'));
  t.true(
    edited.html.includes('id="url" type="url" required maxlength="2000" spellcheck="false" value name="url"'),
  );
  await browser.submit(`${known}/removal`);

  const origins = await refused('/organization/origins', { origins: 'https://a.example\n<none>' });
  t.true(origins.html.includes('>https://a.example\n&lt;none></textarea>'));

  const person = { name: 'Zoë <Z>', email: 'none', role: 'administrator' };
  const user = await refused('/organization/users', person);
  t.is(user.text, 'Enter an e-mail address, such as ana@example.com.');
  t.true(user.html.includes('value="Zoë &lt;Z>"'));
  t.regex(user.html, /<select id="role" name="role"><option selected value="administrator">/);
  const own = await refused('/organization/users', { ...person, email: 'ana@example.org' });
  t.regex(own.text, /^You cannot change or remove yourself/);

  const application = await refused('/organization/applications', { name: 'a|b' });
  t.is(application.text, 'Enter a name of at most 100 characters, without the bar |.');
  t.true(application.html.includes('value="a|b"'));
  t.is((await refused('/organization/applications', { name: 'shop' })).text, 'This name is taken.');
  const list = await browser.page('/organization/applications');
  const shop = /href="(\/organization\/applications\/[0-9a-f-]{36})" aria-label="Keys of Shop"/.exec(
    list,
  )?.[1];
  const key = await refused(`${shop}/keys`, { expiry: 'never', scopeRead: 'yes' });
  t.is(key.name, 'expiry');
  t.true(key.html.includes('name="scopeRead" value="yes" checked'));

  const looks = { primaryColor: '#7a1f5c', headerColor: 'pink', redirectOrigins: 'x', redirectUrl: '' };
  const colour = await refused('/organization/branding/looks', { ...looks, redirectOrigins: '' });
  t.is(colour.text, 'Enter a color as #rrggbb.');
  t.true(colour.html.includes('value="#7a1f5c"'));
  const many = Array.from({ length: 21 }, (_, index) => `https://${'a'.repeat(200)}${index}.example`).join(
    '\r\n',
  );
  for (const redirectOrigins of ['x', many]) {
    const alone = { ...looks, headerColor: '', redirectOrigins };
    t.is((await refused('/organization/branding/looks', alone)).name, 'redirectOrigins');
  }
  const introduction = `Hello {stranger} ${'漢'.repeat(1900)}`;
  const fields = { kind: 'reminder', subject: 'Hi', introduction };
  // Form data as the page's form sends it: three bytes for each character, in place of nine.
  const body = new FormData();
  for (const [name, value] of Object.entries({ formToken: browser.token, ...fields }))
    body.append(name, value);
  const mail = await refused('/organization/branding/mail', fields, body);
  t.is(mail.name, 'introduction');
  t.true(mail.html.includes(`>${introduction}</textarea>`));
  t.true(mail.html.includes('<option selected value="reminder">'));
});

test.serial('the journal records the user of every change', async (t) => {
  const { program } = t.context;
  const { service } = program;
  const { items } = await program.administrator.get<{ items: readonly { id: string; name: string }[] }>(
    '/api/admin/organizations?q=Acme',
  );
  const organization = items[0]?.id;
  const journal = async (kind: string, id: string) => {
    const answer = await service.fetch(`/api/actors/${kind}/${id}`);
    return JSON.stringify(await answer.json());
  };
  const notes = `${await journal('organization', organization ?? '')}${await journal('webhook-set', organization ?? '')}`;
  for (const change of [
    /Application \\"Shop\\" added as Normal\. By user [0-9a-f-]{36}\./,
    /Secret [0-9a-f]{8}\.\.\. added\. By user /,
    /Secret [0-9a-f-]{36} revoked\. By user /,
    /Settings changed: embedOrigins\. By user /,
    /Test mail accepted by the mail server\. By user /,
    /Test event sent to webhook [0-9a-f-]{36}: Delivered\. By user /,
    /Delivery \S+ sent again\. By user /,
    /Webhook [0-9a-f-]{36} added for http:\/\/127\.0\.0\.1:\d+\. By user /,
    /Webhook [0-9a-f-]{36} removed\. By user /,
  ])
    t.regex(notes, change);
});
