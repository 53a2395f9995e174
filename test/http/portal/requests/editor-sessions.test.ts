/** Sessions of the editor in other applications, over HTTP. Source: docs/decisions/0119-editor-in-other-applications.md. */
import anyTest, { type TestFn } from 'ava';
import { Client, type PortalProgram, SAMPLE, startProgram, until } from '../../../actors/portal/service.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { portalTable } from '../../descriptions.ts';
import { register, SENDER, signedIn } from '../accounts/users.ts';
import { clientOf, clockedPortal, DAY } from './clocked-portal.ts';

const test = anyTest as TestFn<PortalProgram>;
const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await startProgram(shared);
});

const PATH = '/api/editor-sessions';
const FLOW = [{ user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true }];

interface Link {
  readonly draftId: string;
  readonly url: string;
  readonly embedUrl: string;
}
interface Opened {
  readonly token: string;
  readonly document: object;
  readonly locations: { readonly [upload: string]: string };
}

async function uploaded(client: Client) {
  const { id, name, contentType } = await client.upload();
  return { id, name, contentType, displayName: 'Lease' };
}

/** A session as its page has it: a token, and no key. */
class Session {
  readonly url: string;
  readonly token: string;
  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  fetch(path: string, method = 'GET', body?: object): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method,
      headers: { 'X-Editor-Session': this.token, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async current(): Promise<Opened> {
    return (await (await this.fetch(`${PATH}/current`)).json()) as Opened;
  }

  upload(): Promise<Response> {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(SAMPLE.content)], { type: SAMPLE.type }), 'more.pdf');
    const headers = { 'X-Editor-Session': this.token };
    return fetch(`${this.url}${PATH}/current/uploads`, { method: 'POST', headers, body: form });
  }
}

function open(url: string, link: string): Promise<Response> {
  const ticket = new URL(link).searchParams.get('ticket');
  const headers = { 'Content-Type': 'application/json' };
  return fetch(`${url}${PATH}/open`, { method: 'POST', headers, body: JSON.stringify({ ticket }) });
}

async function begun(
  client: Client,
  request: object,
): Promise<{ link: Link; session: Session; opened: Opened }> {
  const link = await client.post<Link>(PATH, request);
  const answer = await open(client.url, link.url);
  const opened = (await answer.json()) as Opened;
  return { link, opened, session: new Session(client.url, opened.token) };
}

test('a link starts one session of one draft, which is changed, saved and sent for the application', async (t) => {
  const { acme, url } = t.context;
  const file = await uploaded(acme);
  // The application sets what the editor does not show.
  const { id: draftId } = await acme.post<{ id: string }>('/api/document-drafts', {
    name: 'Lease',
    document: { Files: [file], externalId: 'contract-17', disableNotifications: true },
  });
  const link = await acme.post<Link>(PATH, { draftId, returnUrl: 'https://app.example/17' });
  t.is(link.draftId, draftId);
  // Programs that open links use nothing up.
  for (const page of [link.url, link.embedUrl, link.url]) {
    const answer = await fetch(page);
    t.is(answer.status, 200);
    t.false((await answer.text()).includes(file.id));
  }
  t.regex((await fetch(link.url)).headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
  const framed = (await fetch(link.embedUrl)).headers.get('content-security-policy') ?? 'none';
  t.notRegex(framed, /none$|frame-ancestors/);

  const answers = await Promise.all([open(url, link.url), open(url, link.embedUrl), open(url, link.url)]);
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 422, 422]);
  const opened = (await answers.find(({ status }) => status === 200)?.json()) as Opened;
  t.like(opened, { status: 'Saved', returnUrl: 'https://app.example/17', draftId });
  t.is((await fetch(`${url}${opened.locations[file.id]}`)).status, 200);
  const session = new Session(url, opened.token);

  const more = (await (await session.upload()).json()) as { id: string; name: string; contentType: string };
  const files = [file, { id: more.id, name: more.name, contentType: more.contentType, displayName: 'More' }];
  const save = (document: object) => session.fetch(`${PATH}/current`, 'PUT', { name: 'Lease 2', document });
  const edits = { files, flowActions: FLOW, description: 'Please sign.' };
  t.is((await save({ ...edits, externalId: 'stolen', folderId: null })).status, 200);
  const kept = await acme.get<{ name: string; document: object }>(`/api/document-drafts/${draftId}`);
  t.is(kept.name, 'Lease 2');
  t.like(kept.document, {
    externalId: 'contract-17',
    disableNotifications: true,
    description: 'Please sign.',
  });
  t.false('folderId' in kept.document);
  t.deepEqual((await session.current()).document, kept.document);

  const sent = (await (await session.fetch(`${PATH}/current/send`, 'POST')).json()) as {
    documentId: string;
  }[];
  t.is(sent.length, 2);
  t.deepEqual(await (await session.fetch(`${PATH}/current/send`, 'POST')).json(), sent, 'a repetition');
  const made = await acme.get<{ createdBy: { name: string } }>(`/api/documents/${sent[0]?.documentId}`);
  t.is(made.createdBy.name, 'Acme App');
  t.is((await save(edits)).status, 401, 'a sent draft');
  t.is((await session.fetch(`${PATH}/current`)).status, 401);
  t.is((await session.upload()).status, 401);
  t.is((await session.fetch(`${PATH}/current`, 'DELETE')).status, 200);
  t.is((await session.fetch(`${PATH}/current`)).status, 401, 'after its end');
  t.is((await fetch(link.url)).status, 404);
});

test('the token of a session is refused elsewhere, and for files outside its draft', async (t) => {
  const { acme, url } = t.context;
  const other = await uploaded(acme);
  const otherDraft = await acme.post<{ id: string }>('/api/document-drafts', { name: 'Other', document: {} });
  const document = await acme.create(FLOW);
  const { session, opened } = await begun(acme, { files: [await uploaded(acme)] });
  const ids: { readonly [name: string]: string } = { id: document, key: 'K3M9Q7W2E5R8T1Y4U6I0' };
  let tried = 0;
  for (const { method, path, auth } of portalTable()) {
    if (auth === 'anonymous' || auth === 'editor') continue;
    tried += 1;
    const answer = await session.fetch(
      path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? otherDraft.id),
      method,
      method === 'GET' ? undefined : {},
    );
    // Pages of users lead to their sign-in; others ask for a key, a ticket, or say what is missing.
    t.true([302, 400, 401, 404, 415].includes(answer.status), `${method} ${path}: ${answer.status}`);
    if (answer.status === 302) t.is(answer.headers.get('location'), '/sign-in');
  }
  t.true(tried > 80);
  // Names of other files of the organization.
  const steal = { files: [other], flowActions: FLOW };
  t.is((await session.fetch(`${PATH}/current`, 'PUT', { name: 'X', document: steal })).status, 422);
  const attached = { ...opened.document, attachments: [{ ...other, isPrivate: false }] };
  t.is((await session.fetch(`${PATH}/current`, 'PUT', { name: 'X', document: attached })).status, 200);
  t.deepEqual(Object.keys((await session.current()).locations), Object.keys(opened.locations));
  // Other tokens.
  const changed = `${opened.token.startsWith('A') ? 'B' : 'A'}${opened.token.slice(1)}`;
  for (const token of ['', 'x', `${opened.token}x`, changed, acme.key])
    t.is((await new Session(url, token).fetch(`${PATH}/current`)).status, 401, token);
  t.is((await acme.fetch(`${PATH}/current`)).status, 401, 'a key is no session');
});

test('links need exactly one of draft and files, and a web address for the return', async (t) => {
  const { acme, monitor } = t.context;
  const file = await uploaded(acme);
  const { id: draftId } = await acme.post<{ id: string }>('/api/document-drafts', {
    name: 'D',
    document: {},
  });
  for (const request of [
    {},
    { files: [] },
    { draftId, files: [file] },
    { draftId, returnUrl: 'javascript:alert(1)' },
    { draftId, returnUrl: '/contracts/17' },
  ])
    t.is((await acme.send(PATH, request)).status, 400, JSON.stringify(request));
  t.is((await monitor.send(PATH, { draftId })).status, 403);
  await acme.fetch(`/api/document-drafts/${draftId}`, { method: 'DELETE' });
  t.is((await acme.send(PATH, { draftId })).status, 422);
  const ticket = { ticket: 'AQlnY2p0' };
  t.is((await acme.send(`${PATH}/open`, ticket)).status, 422);
});

test('a link expires after 15 minutes, its session after two hours', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const { url } = client;
  const draft = await client.post<{ id: string }>('/api/document-drafts', { name: 'D', document: {} });
  const late = await client.post<Link>(PATH, { draftId: draft.id });
  const pageOf = (link: Link) => {
    const { pathname, search } = new URL(link.embedUrl);
    return fetch(`${url}${pathname}${search}`);
  };
  portal.forward(15 * 60_000);
  t.is((await open(url, late.url)).status, 422);
  const over = await pageOf(late);
  t.is(over.status, 404);
  t.true((await over.text()).includes('This editor cannot be opened'));
  const { link, session } = await begun(client, { draftId: draft.id });
  portal.forward(119 * 60_000);
  t.is((await session.fetch(`${PATH}/current`)).status, 200);
  t.is((await pageOf(link)).status, 200, 'for a reload');
  portal.forward(60_000);
  t.is((await session.fetch(`${PATH}/current`)).status, 401);
  t.is((await pageOf(link)).status, 404);

  // An organization's draft is no other's, and keys restricted to folders make no links.
  t.is((await clientOf(portal, 'Other').send(PATH, { draftId: draft.id })).status, 422);
});

test('a revoked or expired key ends its sessions and links at once, and a key without Read opens no existing draft', async (t) => {
  const portal = await clockedPortal(t);
  const admin = clientOf(portal, 'Admin');
  const { url } = admin;
  const { id } = await admin.post<{ id: string }>('/api/admin/organizations', { name: 'Editing' });
  const application = await admin.post<{ id: string }>(`/api/admin/organizations/${id}/applications`, {
    name: 'Editing App',
  });
  const path = `/api/admin/organizations/${id}/applications/${application.id}/keys`;
  const keyOf = async (limits: object) => {
    const made = await admin.post<{ id: string; key: string }>(path, limits);
    return { id: made.id, client: new Client(url, made.key) };
  };
  const isOpen = async (session: Session) => (await session.fetch(`${PATH}/current`)).status;

  const revoked = await keyOf({ scopes: ['Create'] });
  const { client } = revoked;
  const files = { files: [await uploaded(client)] };
  const { session, link } = await begun(client, files);
  const unused = await client.post<Link>(PATH, files);
  t.is(await isOpen(session), 200);
  t.is((await client.send(PATH, { draftId: link.draftId })).status, 403, 'it cannot read the draft');
  await admin.fetch(`${path}/${revoked.id}`, { method: 'DELETE' });
  t.is(await isOpen(session), 401);
  t.is((await open(url, unused.url)).status, 422);

  const expirationDate = new Date(Date.now() + 3_600_000).toISOString();
  const expiring = await keyOf({ scopes: ['Create', 'Read'], expirationDate });
  const later = await begun(expiring.client, { draftId: link.draftId });
  portal.forward(59 * 60_000);
  t.is(await isOpen(later.session), 200);
  portal.forward(60_000);
  t.is(await isOpen(later.session), 401);
});

test('an unsaved draft of a link is removed after a day, and a saved one stays', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const file = await uploaded(client);
  const document = { files: [file], flowActions: FLOW };
  const put = (draftId: string) =>
    client.post(`/api/document-drafts/${draftId}`, { name: 'Kept', document }, 'PUT');
  const abandoned = await client.post<Link>(PATH, { files: [file] });
  const viewed = await begun(client, { files: [file] });
  const edited = await begun(client, { files: [file] });
  const replaced = await client.post<Link>(PATH, { files: [file] });
  const linked = await client.post<Link>(PATH, { files: [file] });
  const own = await client.post<{ id: string }>('/api/document-drafts', { name: 'Own', document });
  await edited.session.fetch(`${PATH}/current`, 'PUT', { name: 'Edited', document });
  await put(replaced.draftId);
  await client.post(PATH, { draftId: linked.draftId });
  const drafts = async () => {
    const { items } = await client.get<{ items: { id: string; status: string }[] }>(
      '/api/document-drafts?limit=100',
    );
    t.true(items.every(({ status }) => status === 'Saved'));
    return items.map((item) => item.id).sort();
  };
  const kept = [edited.link.draftId, replaced.draftId, linked.draftId, own.id];
  portal.forward(DAY - 60_000);
  t.deepEqual(await drafts(), [...kept, abandoned.draftId, viewed.link.draftId].sort());
  portal.forward(60_000);
  await until(async () => ((await drafts()).length === kept.length ? true : undefined));
  t.deepEqual(await drafts(), kept.sort());
});

test('a link of a signed-in user is valid until the user leaves the organization', async (t) => {
  const { acme, url } = t.context;
  const userId = await register(t.context, 'eva@example.org', SENDER, 'Eva');
  const eva = await signedIn(t.context, 'eva@example.org');
  await eva.page('/account/documents');
  const draft = await acme.post<{ id: string }>('/api/document-drafts', {
    name: 'D',
    document: { files: [await uploaded(acme)], flowActions: FLOW },
  });
  const answer = await eva.fetch(PATH, {
    method: 'POST',
    headers: { 'X-Form-Token': eva.token, 'Content-Type': 'application/json' },
    body: JSON.stringify({ draftId: draft.id }),
  });
  const link = (await answer.json()) as Link;
  const { token } = (await (await open(url, link.url)).json()) as Opened;
  const session = new Session(url, token);
  t.is((await session.fetch(`${PATH}/current`)).status, 200);
  const [sent] = (await (await session.fetch(`${PATH}/current/send`, 'POST')).json()) as {
    documentId: string;
  }[];
  const made = await acme.get<{ createdBy: { name: string } }>(`/api/documents/${sent?.documentId}`);
  t.is(made.createdBy.name, 'Eva');
  await acme.fetch(`/api/organizations/users/${userId}`, { method: 'DELETE' });
  t.is((await session.fetch(`${PATH}/current/send`, 'POST')).status, 401);
});
