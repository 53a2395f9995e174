import test from 'ava';
import { clausePdf } from '../crypto/pdf/build.ts';
import { closeBrowser, visit } from './browser.ts';
import { startPagesServer } from './pages-server.ts';

test.after.always(() => closeBrowser());

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
  if (visited === undefined) return;
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
