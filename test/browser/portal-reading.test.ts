import ava from 'ava';
import { clausePdf } from '../crypto/pdf/build.ts';
import { withTools } from '../verifiers/tool.ts';
import { assertAccessible } from './axe.ts';
import { closeBrowser, openSigning, openTools, visit } from './browser.ts';
import { startPagesServer } from './pages-server.ts';

const test = withTools(ava, 'chromium');

test.after.always(() => closeBrowser());

test.serial(
  'the pages are accessible in light and dark colours, on a desktop screen and on a phone of 320 pixels',
  async (t) => {
    const cases = [
      { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
      { colorScheme: 'dark', viewport: { width: 320, height: 640 } },
    ] as const;
    for (const shape of cases) {
      const site = await startPagesServer(t, {
        action: { codes: [{ channel: 'Email', to: 'a***@example.test' }], initialsMode: 'Optional' },
      });
      const visited = await visit(t, site.url, { locale: 'en-US', ...shape });
      const { page } = visited;
      await page.goto(`${site.url}${site.signPath}`);
      await page.locator('.page[data-drawn]').first().waitFor();
      await openTools(page);
      await assertAccessible(t, page, `menu, ${shape.colorScheme}`);
      await page.keyboard.press('Escape');
      await page.getByText('Refuse', { exact: true }).click();
      await assertAccessible(t, page, `signing, ${shape.colorScheme}`);
      await openSigning(page);
      for (const way of ['Type', 'Draw', 'Upload']) {
        await page.getByRole('tab', { name: way }).click();
        await assertAccessible(t, page, `${way}, ${shape.colorScheme}`);
      }
      await page.getByText('What is recorded').click();
      await page.getByRole('button', { name: 'Sign with a certificate file' }).click();
      await assertAccessible(t, page, `certificate, ${shape.colorScheme}`);
      t.true(
        ((await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')) as number) <= 0,
        'the page is wider than the window',
      );
      await page.context().close();
    }
  },
);

test.serial('a user without a mouse reads, fills in, and signs by keyboard alone', async (t) => {
  const site = await startPagesServer(t, {
    action: { codes: [{ channel: 'Email', to: 'a***@example.test' }] },
  });
  const visited = await visit(t, site.url, { locale: 'en-US', reducedMotion: 'reduce' });
  const { page, requests } = visited;
  await page.goto(`${site.url}${site.signPath}`);
  await page.locator('#guide-next:enabled').waitFor();
  const focused = () => page.evaluate('document.activeElement.id || document.activeElement.textContent');
  await page.keyboard.press('Tab');
  t.is(await focused(), 'Skip to the actions');
  await page.keyboard.press('Enter');
  const walked: unknown[] = [];
  for (let step = 0; step < 20; step += 1) {
    await page.keyboard.press('Tab');
    walked.push(await focused());
    if (walked.at(-1) === 'guide-next') break;
  }
  t.is(walked.at(-1), 'guide-next', `walked over ${walked.join(', ')}`);
  await page.keyboard.press('Space');
  await page.getByText('The code was sent').waitFor();
  t.is(await focused(), 'email-code');
  // What is not seen is not signed by the last digit.
  await page.locator('#unread').waitFor({ state: 'hidden' });
  await page.keyboard.type('135790');
  await page.getByText('You signed the document.').waitFor();
  t.is(await focused(), 'outcome');
  await page.getByText('Clause 3').waitFor({ state: 'attached' });
  // The document embeds no font: the letters are those of the service, not of the system.
  const fonts = requests.filter((one) => one.includes('/standard-fonts/'));
  t.deepEqual([...new Set(fonts.map((one) => one.split('/').at(-1)))], ['LiberationSans-Regular.ttf']);
  const read = await page.locator('#pages').ariaSnapshot();
  for (const clause of ['Clause 1', 'Clause 2', 'Clause 3']) t.true(read.includes(clause), read);
});

test.serial(
  'pages turn, zoom and open at the requested page, and other kinds of files are shown or offered',
  async (t) => {
    const site = await startPagesServer(t, { file: clausePdf(12) });
    const visited = await visit(t, site.url, { locale: 'en-US', reducedMotion: 'reduce' });
    const { page } = visited;
    await page.goto(`${site.url}${site.signPath}&page=-1&scale=150&culture=es`);
    await page.locator('.page[data-page="12"][data-drawn]').waitFor();
    t.is(await page.getByLabel('Página', { exact: true }).inputValue(), '12');
    t.is(await page.locator('html').getAttribute('lang'), 'es');
    const width = async () => (await page.locator('.page').first().boundingBox())?.width ?? 0;
    t.is(Math.round(await width()), Math.round((595 * 150) / 75));
    await openTools(page);
    await page.getByRole('button', { name: 'Página anterior' }).click();
    await page.locator('.page[data-page="11"][data-drawn]').waitFor();
    t.is(await page.getByLabel('Página', { exact: true }).inputValue(), '11');
    await page.getByLabel('Zoom').selectOption('50');
    t.is(Math.round(await width()), Math.round((595 * 50) / 75));
    await page.getByLabel('Página', { exact: true }).fill('2');
    await page.keyboard.press('Enter');
    await page.locator('.page[data-page="2"][data-drawn]').waitFor();

    const text = await startPagesServer(t, {
      document: { mimeType: 'text/html' },
      file: Buffer.from('<b>Ünicode</b>'),
    });
    const other = await startPagesServer(t, {
      document: { mimeType: 'application/zip' },
      file: Buffer.from('PK'),
    });
    const broken = await startPagesServer(t, { file: Buffer.from('%PDF-1.7 and nothing else') });
    for (const [{ url, signPath }, words] of [
      [text, '<b>Ünicode</b>'],
      [other, 'This kind of file cannot be shown here.'],
      [broken, 'The document could not be shown.'],
    ] as const) {
      const another = await visit(t, url, { locale: 'en-US' });
      await another?.page.goto(`${url}${signPath}`);
      await another?.page.getByText(words).waitFor();
      if (another !== undefined) await openTools(another.page);
      await another?.page.getByRole('link', { name: 'Download' }).waitFor();
    }
  },
);

test.serial(
  'names with right-to-left or reordering characters keep the order of the surrounding text',
  async (t) => {
    const title = 'מנהלת 5';
    const site = await startPagesServer(t, {
      action: {
        title,
        participant: { id: '1' as never, name: 'דנה לוי', identifier: null, email: null, phone: null },
      },
      participants: [{ name: 'Ana \u202eevil', type: 'Signer', step: 1, status: 'Pending', isYou: true }],
    });
    const visited = await visit(t, site.url, { locale: 'en-US' });
    const { page } = visited;
    await page.goto(`${site.url}${site.signPath}`);
    /** Left edges of the words in an element, in the requested order. */
    const places = (selector: string, words: readonly string[]) =>
      page.evaluate(`(() => {
      const text = document.createTreeWalker(document.querySelector(${JSON.stringify(selector)}), NodeFilter.SHOW_TEXT);
      const nodes = [];
      while (text.nextNode()) nodes.push(text.currentNode);
      return ${JSON.stringify(words)}.map((word) => {
        const node = nodes.find(({ data }) => data.includes(word));
        const range = document.createRange();
        range.setStart(node, node.data.indexOf(word));
        range.setEnd(node, node.data.indexOf(word) + word.length);
        return range.getBoundingClientRect().left;
      });
    })()`) as Promise<number[]>;
    for (const [selector, words] of [
      ['#acting', ['דנה', 'מנהלת']],
      ['.who', ['(', 'yo', 'u)']],
    ] as const) {
      const found = await places(selector, words);
      t.deepEqual(
        found,
        [...found].sort((one, other) => one - other),
        selector,
      );
    }
  },
);

/** Slow 4G: 1.6 Mbit/s, 150 ms; processor four times slower. */
const SLOW_4G = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 94_000 };

/** Limit of everything that is loaded before the first page, bytes: 2.75 s of this network. */
const MAX_BYTES = 550_000;

test.serial('the first page of a long document is shown before the text of the others is read', async (t) => {
  const site = await startPagesServer(t, { file: clausePdf(300) });
  const visited = await visit(t, site.url, {
    locale: 'en-US',
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  });
  const { page, requests } = visited;
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await session.send('Network.emulateNetworkConditions', SLOW_4G);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.goto(`${site.url}${site.signPath}`, { waitUntil: 'commit' });
  const { at, texts, bytes } = await page.evaluate<{
    at: number;
    texts: number;
    bytes: number;
  }>(`new Promise((resolve) => {
    const isShown = () => document.querySelector('.page[data-drawn]') !== null;
    const tell = () => resolve({
      at: Math.round(performance.now()),
      texts: document.querySelectorAll('.textLayer').length,
      bytes: performance.getEntriesByType('resource').reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
    });
    if (isShown()) return tell();
    // At the change itself: texts are read before the next frame where the machine is busy.
    const observer = new MutationObserver(() => {
      if (!isShown()) return;
      observer.disconnect();
      tell();
    });
    observer.observe(document, { subtree: true, childList: true, attributeFilter: ['data-drawn'] });
  })`);
  t.log(`first page after ${at} ms and ${bytes} bytes, ${texts} texts read before`);
  t.true(bytes < MAX_BYTES, `${bytes} bytes were loaded before the first page was shown`);
  t.is(texts, 0, `${texts} texts were read before the first page was shown`);
  const asked = requests.map((request) => request.split('/').at(-1) ?? '');
  const place = (name: string) => asked.findIndex((one) => one.startsWith(name));
  t.true(place('content') >= 0 && place('content') < place('pdf.min.mjs'), asked.join(' '));
  t.is(asked.filter((name) => name.startsWith('content')).length, 1, 'the file was loaded twice');
});
