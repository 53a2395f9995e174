import { stripVTControlCharacters } from 'node:util';
import ava from 'ava';
import { freshFolder, startOnTerminal } from '../commands/program.ts';
import { withTools } from '../verifiers/tool.ts';
import { assertAccessible } from './axe.ts';
import { closeBrowser, visit } from './browser.ts';

const test = withTools(ava, 'script', 'chromium');

let started: Promise<{ shown(label: string): string }> | undefined;
const ends: (() => unknown)[] = [];
test.after.always(async () => {
  await closeBrowser();
  for (const end of ends) await end();
});

/** Starts the program for all tests, with everything in which a start on a terminal differs from one without. */
async function startAsPerson() {
  const words = ['serve', '--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0'];
  const program = startOnTerminal(freshFolder(), words);
  ends.push(() => program.child.kill('SIGKILL'));
  await program.says(/\[INF\] Ready/);
  const shown = (label: string) => {
    const pattern = new RegExp(`${label} +(http://\\S+)`);
    return pattern.exec(stripVTControlCharacters(program.out()))?.[1] ?? '';
  };
  return { shown };
}

test.serial(
  'the address in the terminal banner opens every page, and its link logs in once, by a button',
  async (t) => {
    started ??= startAsPerson();
    const { shown } = await started;
    const operator = shown('Batch API');
    const visited = await visit(t, operator, { locale: 'en-US' });
    const { page } = visited;
    const link = shown('One-time login');
    t.regex(link, /\/login\?once=[\w-]{43}$/);
    // Scanners and previews open links: that must not use them up.
    for (let scan = 0; scan < 3; scan += 1) t.is((await fetch(link)).status, 200);
    await page.goto(link);
    await assertAccessible(t, page, 'login link');
    t.is(await page.getByLabel('API key').count(), 0);
    await page.keyboard.press('Tab');
    t.is(await page.evaluate('document.activeElement.localName'), 'button');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    t.is(new URL(page.url()).pathname, '/');
    await page.goto(`${operator}/mails`);
    await page.getByRole('heading', { name: 'E-mails' }).waitFor();

    // A second use is refused, with the way that still works.
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.goto(link);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').getByText('This login link was used already').waitFor();
    await page.getByLabel('API key').waitFor();
    await assertAccessible(t, page, 'used link');
    for (const url of [`${operator}/scalar/v1`, `${shown('Portal')}/scalar/v1`]) {
      t.is((await fetch(url)).status, 200, url);
    }
    // The first administrator of the portal signs in from the terminal, too.
    const administration = await visit(t, new URL(shown('Portal')).origin, { locale: 'en-US' });
    const first = administration.page;
    await first.goto(shown('Administrator login'));
    await first.getByRole('button', { name: /Sign in to/ }).click();
    await first.getByRole('heading', { name: 'Documents', exact: true }).waitFor();
  },
);

test.serial('unknown addresses and the first page of the portal are pages in each language', async (t) => {
  started ??= startAsPerson();
  const { shown } = await started;
  const portal = shown('Portal');
  for (const [locale, title, missing] of [
    ['en-US', 'Document signing portal', 'Page not found'],
    ['pt-BR', 'Portal de assinatura de documentos', 'Página não encontrada'],
    ['es-MX', 'Portal de firma de documentos', 'Página no encontrada'],
    ['de-CH', 'Portal zum Signieren von Dokumenten', 'Seite nicht gefunden'],
    ['fr-FR', 'Portail de signature de documents', 'Page introuvable'],
    ['it-IT', 'Portale di firma dei documenti', 'Pagina non trovata'],
  ] as const) {
    const visited = await visit(t, portal, { locale, viewport: { width: 320, height: 640 } });
    const { page, requests } = visited;
    const found = await page.goto(`${portal}/`);
    t.is(found?.status(), 200);
    await page.getByRole('heading', { name: title }).waitFor();
    await assertAccessible(t, page, `first page, ${locale}`);
    t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
    const lost = await page.goto(`${portal}/documents/of/mine`);
    t.is(lost?.status(), 404);
    await page.getByRole('heading', { name: missing }).waitFor();
    await assertAccessible(t, page, `unknown address, ${locale}`);
    await page.getByRole('link', { name: title }).click();
    await page.getByRole('heading', { name: title }).waitFor();
    t.true(requests.length > 0);
  }
  const operator = shown('Batch API');
  const visited = await visit(t, operator);
  const { page } = visited;
  const lost = await page.goto(`${operator}/nothing/<here>`);
  t.is(lost?.status(), 404);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await assertAccessible(t, page, 'unknown address of the operator pages');
  for (const origin of [operator, portal]) {
    const icon = await fetch(`${origin}/favicon.ico`);
    t.deepEqual([icon.status, icon.headers.get('content-type')], [200, 'image/svg+xml']);
    // Programs get what they always got.
    const html = { headers: { accept: 'text/html' } };
    for (const [path, options] of [
      ['/nothing', {}],
      ['/api/nothing', html],
    ] as const) {
      const { status, headers } = await fetch(`${origin}${path}`, options);
      t.is(status, 404);
      t.regex(headers.get('content-type') ?? '', /json/, `${origin}${path}`);
    }
  }
});
