/**
 * Prints when a participant sees the first page on a phone, and what was loaded until then, without its picture, while it is drawn, and with it:
 * `node dist/test/browser/first-page-run.js [--runs 5] [file.pdf ...]`. Compare runs on a quiet machine.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { firstPageSize } from '@sealwright/signatures';
import { type Browser, chromium } from 'playwright-core';
import { drawFirstPage } from '../../actors/pool/drawing/first-page.ts';
import { clausePdf } from '../crypto/pdf/build.ts';
import { CHROMIUM, pathOf } from '../verifiers/tool.ts';
import { startPagesServer } from './pages-server.ts';

const NETWORKS = [
  ['unlimited', undefined],
  ['slow 4G', { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 94_000 }],
  ['slow 3G', { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 }],
] as const;

/** Notes milliseconds and bytes from the request for the page. */
const MARKS = `globalThis.marks = {};
const note = (name) => {
  const bytes = performance.getEntriesByType('resource').reduce((sum, one) => sum + one.encodedBodySize, 0);
  marks[name] ??= [Math.round(performance.now()), bytes + (performance.getEntriesByType('navigation')[0]?.encodedBodySize ?? 0)];
};
new MutationObserver(() => {
  const picture = document.querySelector('img.sheet-of');
  if (picture !== null && picture.dataset.watched === undefined) {
    picture.dataset.watched = '';
    picture.decode().then(() => note('seen'), () => undefined);
  }
  if (document.querySelector('#guide-next:not([disabled])') !== null) note('enabled');
  if (document.querySelector('.page[data-drawn]') !== null) { note('seen'); note('drawn'); }
}).observe(document, { subtree: true, childList: true, attributes: true });`;

type Marks = Readonly<Record<'seen' | 'enabled' | 'drawn', readonly [ms: number, bytes: number]>>;

async function look(browser: Browser, url: string, network: (typeof NETWORKS)[number][1]): Promise<Marks> {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  if (network !== undefined) await session.send('Network.emulateNetworkConditions', network);
  await page.addInitScript(MARKS);
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator('.page[data-drawn]').first().waitFor({ timeout: 120_000 });
  const marks = await page.evaluate<Marks>('marks');
  await context.close();
  return marks;
}

/** The run in the middle by the time when the page is seen. */
function middle(runs: readonly Marks[]): Marks | undefined {
  return [...runs].sort((one, other) => one.seen[0] - other.seen[0])[Math.floor(runs.length / 2)];
}

const { values, positionals } = parseArgs({
  options: { runs: { type: 'string', default: '5' } },
  allowPositionals: true,
});
const folder = mkdtempSync(join(tmpdir(), 'sealwright-first-page-'));
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
const browser = await chromium.launch({
  executablePath: CHROMIUM.map(pathOf).find((path) => path !== undefined) ?? 'chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const samples = positionals.map((path) => [basename(path), readFileSync(path)] as const);
const files = samples.length > 0 ? samples : [['three pages', clausePdf(3)] as const];
for (const [name, file] of files) {
  const path = join(folder, 'document.pdf');
  writeFileSync(path, file);
  const before = performance.now();
  const { picture } = await drawFirstPage({ task: 'portal.first-page', documentId: '', path });
  const drawingMs = performance.now() - before;
  console.log(`${name}: picture of ${picture?.length ?? 0} bytes in ${Math.round(drawingMs)} ms`);
  const size = firstPageSize(path);
  for (const shown of picture === undefined ? (['none'] as const) : (['none', 'coming', 'ready'] as const)) {
    const firstPage = { ...size, picture: shown };
    const hook = { teardown: (end: () => unknown) => void ends.push(end) };
    const site = await startPagesServer(hook, {
      file,
      document: { firstPage },
      ...(picture && { picture: () => (shown === 'coming' ? setTimeout(drawingMs, picture) : picture) }),
    });
    for (const [network, limits] of NETWORKS) {
      const runs: Marks[] = [];
      for (let run = 0; run < Number(values.runs); run += 1)
        runs.push(await look(browser, `${site.url}${site.signPath}`, limits));
      const { seen, enabled, drawn } = middle(runs) ?? {};
      console.log(
        `  ${shown.padEnd(6)} ${network.padEnd(9)} seen ${seen?.join(' ms, ')} bytes; button ${enabled?.[0]} ms; drawn ${drawn?.join(' ms, ')} bytes`,
      );
    }
  }
}
await browser.close();
for (const end of ends.reverse()) await end();
