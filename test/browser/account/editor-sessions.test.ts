/** The editor in other applications, in a real browser: framed by another site, without cookies. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { FrameLocator, Page, Route } from 'playwright-core';
import { type PortalProgram, startProgram } from '../../actors/portal/service.ts';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible } from '../axe.ts';
import { visit } from '../browser.ts';
import { type AccountPages, goTo, savedDraft, sharePortal } from './account-pages.ts';

const test = withTools(anyTest as TestFn<AccountPages>, 'chromium');
/** The site that the organization lists. */
let site: Site;
sharePortal(test, async (t) => {
  site = await openSite(t);
  return startProgram(t, {
    settings: {
      'Portal:Organizations:0:Name': 'Acme',
      'Portal:Organizations:0:EmbedOrigins:0': site.origin,
    },
  });
});

const CONTRACT = { name: 'lease.pdf', type: 'application/pdf', content: clausePdf(2) };

interface Link {
  readonly draftId: string;
  readonly url: string;
  readonly embedUrl: string;
}

/** A site of the integrator, whose page the test gives when it knows the portal. */
interface Site {
  readonly origin: string;
  html: string;
}

async function openSite(t: Pick<ExecutionContext, 'teardown'>): Promise<Site> {
  const site = { origin: '', html: '' };
  const server = createServer((request, response) => {
    const isPage = request.url?.split('?')[0] === '/';
    response.writeHead(isPage ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
    response.end(isPage ? site.html : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve));
  t.teardown(() => server.close());
  site.origin = `http://127.0.0.2:${(server.address() as AddressInfo).port}`;
  return site;
}

async function makeLink({ acme }: PortalProgram, more: object = {}): Promise<Link> {
  const { id, name, contentType } = await acme.upload(CONTRACT);
  const files = [{ id, name, contentType, displayName: 'Lease' }];
  return acme.post<Link>('/api/editor-sessions', { files, ...more });
}

/** A page with the widget, which lists what it hears. */
function hostPage(portal: string): string {
  return `<!doctype html><html lang="en"><title>Host</title><ol id="heard"></ol><div id="place" style="height:40rem"></div>
<script src="${portal}/widget.js"></script>
<script>
const widget = new SealwrightWidget({ culture: 'en' });
for (const type of ['ready', 'saved', 'sent', 'closed', 'error', 'resize'])
  widget.on(type, (message) => {
    const item = document.createElement('li');
    item.textContent = JSON.stringify(message);
    item.dataset.type = message.type;
    document.querySelector('#heard').append(item);
  });
widget.render(decodeURIComponent(location.hash.slice(1)), 'place');
</script>`;
}

async function heard(page: Page, type: string): Promise<Record<string, unknown>> {
  const item = page.locator(`#heard li[data-type="${type}"]`).first();
  await item.waitFor();
  return JSON.parse((await item.textContent()) ?? '') as Record<string, unknown>;
}

async function fillPerson(frame: FrameLocator | Page): Promise<void> {
  await goTo(frame, 'People');
  await frame.locator('#people-list [name="name"]').first().fill('Ana');
  await frame.locator('#people-list [name="email"]').first().fill('ana@example.org');
}

for (const [what, options] of [
  ['desktop', { locale: 'en-US', viewport: { width: 1280, height: 800 } }],
  [
    'dark phone',
    { locale: 'en-US', viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true },
  ],
] as const) {
  test.serial(
    `a user of another application places fields by keyboard and sends, without account and cookies (${what})`,
    async (t) => {
      const { program } = t.context;
      site.html = hostPage(program.url);
      const visited = await visit(
        t,
        program.url,
        { ...options, reducedMotion: 'reduce' },
        { alsoAsks: [site.origin] },
      );
      const { page } = visited;
      const link = await makeLink(program);
      await page.goto(`${site.origin}/#${encodeURIComponent(link.embedUrl)}`);
      t.deepEqual(await heard(page, 'ready'), { type: 'ready', id: link.draftId });
      t.is(await page.locator('iframe').getAttribute('title'), 'Document editor');
      t.is(typeof (await heard(page, 'resize'))['height'], 'number');
      const frame = page.frameLocator('iframe');
      await fillPerson(frame);
      await goTo(frame, 'Fields');
      await frame.locator('#pages[data-shown]').waitFor();
      await frame.locator('#add-Signature').press('Enter');
      await frame.locator('.page[data-page="1"] .placed:focus').waitFor();
      await page.keyboard.press('PageDown');
      await frame.locator('.page[data-page="2"] .placed:focus').waitFor();
      const inside = page.frames().find((one) => one.parentFrame() !== null);
      if (inside !== undefined) await assertAccessible(t, inside, 'editor');

      // A file of the person's own, a failure, and the draft.
      await goTo(frame, 'Files');
      await frame
        .locator('#add-files')
        .setInputFiles({ ...CONTRACT, mimeType: CONTRACT.type, buffer: CONTRACT.content });
      await frame.locator('#file-list li').nth(1).waitFor();
      t.deepEqual(await heard(page, 'saved'), { type: 'saved', id: link.draftId });
      await goTo(frame, 'People');
      await frame.locator('#people-list [name="email"]').first().fill('ana@nowhere@example.org');
      await goTo(frame, 'Review');
      await frame.getByRole('button', { name: 'Send', exact: true }).press('Enter');
      t.like(await heard(page, 'error'), { id: link.draftId, code: 'InvalidFlowAction' });
      await frame.locator('#outcome.bad').waitFor();
      await goTo(frame, 'People');
      await frame.locator('#people-list [name="email"]').first().fill('ana@example.org');
      await goTo(frame, 'Review');
      await frame.getByRole('button', { name: 'Send', exact: true }).press('Enter');
      const sent = await heard(page, 'sent');
      t.is(sent['id'], link.draftId);
      await heard(page, 'closed');
      await frame.getByRole('heading', { name: 'The document is sent' }).waitFor();
      if (inside !== undefined) await assertAccessible(t, inside, 'sent');
      const [first = ''] = sent['documents'] as string[];
      const made = await program.acme.get<{ flowActions: { marks: { pageNumber: number }[] }[] }>(
        `/api/documents/${first}`,
      );
      t.is((sent['documents'] as string[]).length, 2);
      t.is(made.flowActions[0]?.marks[0]?.pageNumber, 2);
      t.deepEqual(await page.context().cookies(), []);

      // The link is used up.
      await page.reload();
      await page
        .frameLocator('iframe')
        .getByRole('heading', { name: 'This editor cannot be opened' })
        .waitFor();
    },
  );
}

test.serial(
  'a link of another tab is used up, a reload keeps the session, and closing returns',
  async (t) => {
    const { program } = t.context;
    site.html = '<!doctype html><html lang="en"><title>App</title><h1>Contract 17</h1>';
    const visited = await visit(
      t,
      program.url,
      { locale: 'pt-BR', viewport: { width: 1280, height: 800 } },
      { alsoAsks: [site.origin] },
    );
    const { page } = visited;
    const link = await makeLink(program, { returnUrl: `${site.origin}/?contract=17` });
    await page.goto(link.url);
    await page.locator('#editor[data-ready]').waitFor();
    await fillPerson(page);
    await savedDraft(page);
    await page.reload();
    await page.locator('#editor[data-ready]').waitFor();
    t.is(await page.locator('#people-list [name="name"]').first().inputValue(), 'Ana');
    // A busy service does not end the session.
    await page.route('**/api/editor-sessions/current', (route) => route.fulfill({ status: 503 }), {
      times: 1,
    });
    await page.reload();
    await page.getByText('Isso não funcionou.').waitFor();
    await page.reload();
    await page.locator('#editor[data-ready]').waitFor();

    const other = await page.context().newPage();
    await other.goto(link.url);
    await other.getByRole('heading', { name: 'Este editor não pode ser aberto' }).waitFor();
    await assertAccessible(t, other, 'used link');
    await other.close();

    // Refusals have sentences in the language of the page; the service words its own in English.
    for (const [code, sentence] of [
      ['UploadNotFound', 'Um arquivo venceu. Remova-o e adicione-o de novo.'],
      ['NameTaken', 'Isso não funcionou. (NameTaken)'],
    ] as const) {
      const json = { code, message: 'In English.' };
      await page.route('**/api/editor-sessions/current', (route) => route.fulfill({ status: 422, json }), {
        times: 1,
      });
      await page.locator('#people-list [name="name"]').first().fill(`Ana ${code}`);
      await page.locator('#saved', { hasText: sentence }).waitFor();
    }
    // What is entered while the draft is being saved is kept, too.
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hold = async (route: Route) => {
      await released;
      await route.continue();
    };
    await page.route('**/api/editor-sessions/current', hold, { times: 1 });
    const saving = page.waitForRequest('**/api/editor-sessions/current');
    await page.locator('#people-list [name="name"]').first().fill('Ana L');
    await saving;
    await page.locator('#people-list [name="name"]').first().fill('Ana Lima');
    await page.getByRole('button', { name: 'Salvar e fechar' }).click();
    release();
    await page.getByRole('heading', { name: 'Contract 17' }).waitFor();
    t.is(page.url(), `${site.origin}/?contract=17`);
    const draft = await program.acme.get<{ document: { flowActions: { user: { name: string } }[] } }>(
      `/api/document-drafts/${link.draftId}`,
    );
    t.is(draft.document.flowActions[0]?.user.name, 'Ana Lima');
  },
);

test.serial('after a lost answer, sending again reports the documents that were made', async (t) => {
  const { program } = t.context;
  site.html = hostPage(program.url);
  const visited = await visit(t, program.url, { locale: 'en-US' }, { alsoAsks: [site.origin] });
  const { page } = visited;
  const link = await makeLink(program);
  await page.goto(`${site.origin}/#${encodeURIComponent(link.embedUrl)}`);
  await heard(page, 'ready');
  const frame = page.frameLocator('iframe');
  await fillPerson(frame);
  await page.route(
    '**/api/editor-sessions/current/send',
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await goTo(frame, 'Review');
  const send = frame.getByRole('button', { name: 'Send', exact: true });
  await send.press('Enter');
  t.like(await heard(page, 'error'), { id: link.draftId, code: 'Unreachable' });
  await frame.locator('#outcome.bad').waitFor();
  await send.press('Enter');
  const { documents } = await heard(page, 'sent');
  t.is((documents as string[]).length, 1);
  await frame.getByRole('heading', { name: 'The document is sent' }).waitFor();
});

test.serial('an unlisted site cannot frame the editor', async (t) => {
  const { program } = t.context;
  const unlisted = await openSite(t);
  unlisted.html = hostPage(program.url);
  const visited = await visit(t, program.url, {}, { alsoAsks: [unlisted.origin], refusedFrames: true });
  const { page } = visited;
  const link = await makeLink(program);
  await page.goto(`${unlisted.origin}/#${encodeURIComponent(link.embedUrl)}`);
  t.deepEqual(await heard(page, 'error'), { type: 'error', code: 'FrameRefused' });
  t.is(await page.frameLocator('iframe').locator('#editor').count(), 0);
  // Nothing was used up.
  const answer = await fetch(link.embedUrl, { headers: { referer: `${site.origin}/` } });
  t.is(answer.status, 200);
});

test.serial(
  'the documented example opens the editor and receives the event of the sent document',
  async (t) => {
    const { program } = t.context;
    const example = readFileSync('docs/examples/editor.html', 'utf8');
    t.true(example.includes('http://127.0.0.1:8090/widget.js'));
    site.html = example.replace('http://127.0.0.1:8090', program.url);
    const visited = await visit(t, program.url, { locale: 'en-US' }, { alsoAsks: [site.origin] });
    const { page } = visited;
    const { embedUrl } = await makeLink(program);
    await page.goto(`${site.origin}/#${encodeURIComponent(embedUrl)}`);
    await page.getByText('Say who signs, and where.').waitFor();
    await assertAccessible(t, page, 'example');
    const frame = page.frameLocator('#editor iframe');
    await fillPerson(frame);
    await goTo(frame, 'Review');
    await frame.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Sent as one document.').waitFor();
  },
);
