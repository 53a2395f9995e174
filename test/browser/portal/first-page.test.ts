/** Display of the first page, and when it is there. Source: docs/decisions/0430-picture-of-the-first-page.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstPageSize } from '@sealwright/signatures';
import ava, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { drawFirstPage } from '../../../actors/pool/drawing/first-page.ts';
import { classicPdf, clausePdf, documentObjects, stream } from '../../crypto/pdf/build.ts';
import { folderFor } from '../../runtime/folder.ts';
import { withTools } from '../../verifiers/tool.ts';
import { closeBrowser, openUnread, visit } from '../browser.ts';
import { startPagesServer } from '../pages-server.ts';

const test = withTools(ava, 'chromium');

test.after.always(() => closeBrowser());

const PHONE = {
  locale: 'en-US',
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  hasTouch: true,
  isMobile: true,
} as const;

/** Letters of some sizes, lines, an area, a clip and a picture. */
function paintedPdf(): Buffer {
  const objects = documentObjects();
  const samples = String.fromCharCode(...Array.from({ length: 16 }, (_, index) => 64 + index * 8));
  const operators = [
    'BT /F1 12 Tf 20 170 Td (Rental agreement) Tj /F1 7 Tf 0 -14 Td (The tenant pays the rent.) Tj ET',
    '0.8 0.1 0.1 rg 20 60 60 40 re f 0 0 0.6 RG 2 w 20 50 m 180 50 l S',
    'q 100 60 30 40 re W n 0 0.5 0 rg 90 50 60 30 re f Q',
    `q 40 0 0 40 140 60 cm BI /W 4 /H 4 /BPC 8 /CS /G ID ${samples}\nEI Q`,
  ].join('\n');
  objects.set(11, stream('', operators));
  return classicPdf(objects);
}

/** @param coming the service has drawn it; absent: before the visit */
async function startWithPicture(t: ExecutionContext, file: Buffer, coming?: Promise<void>) {
  const path = join(folderFor(t), 'document.pdf');
  writeFileSync(path, file);
  const task = { task: 'portal.first-page', documentId: '', path } as const;
  const { picture } = await drawFirstPage(task);
  const firstPage = { ...firstPageSize(file), picture: coming === undefined ? 'ready' : 'coming' } as const;
  t.truthy(picture);
  return startPagesServer(t, {
    file,
    document: { firstPage },
    picture: async () => {
      await coming;
      return picture ?? new Uint8Array();
    },
  });
}

/** Share of the pixels of two pictures that differ by more than letters with other edges do. */
function difference(page: Page, one: Buffer, other: Buffer): Promise<number> {
  const sources = [one, other].map((png) => `data:image/png;base64,${png.toString('base64')}`);
  return page.evaluate<number>(`(async () => {
    const samples = await Promise.all(${JSON.stringify(sources)}.map(async (src) => {
      const image = Object.assign(new Image(), { src });
      await image.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height).data;
    }));
    const [first, second] = samples;
    let differing = 0;
    for (let at = 0; at < first.length; at += 4)
      if (Math.abs(first[at] - second[at]) > 100) differing += 1;
    return differing / (first.length / 4);
  })()`);
}

test.serial(
  'the first page is seen before the library that draws it is asked for, and nothing moves when it is drawn',
  async (t) => {
    const site = await startWithPicture(t, paintedPdf());
    const visited = await visit(t, site.url, PHONE);
    const { page, requests } = visited;
    let go = () => {};
    const released = new Promise<void>((resolve) => {
      go = resolve;
    });
    await page.route('**/pdf.min.mjs', async (route) => {
      await released;
      await route.continue();
    });
    await page.addInitScript(`globalThis.moved = 0;
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries())
          if (sources.some(({ node }) => node?.parentElement?.closest('#document'))) globalThis.moved += value;
      }).observe({ type: 'layout-shift', buffered: true });`);
    await page.goto(`${site.url}${site.signPath}`);
    await page.locator('#guide-next:enabled').waitFor();
    const sheet = page.locator('.page').first();
    await page.evaluate(`document.querySelector('img.sheet-of').decode()`);
    const before = await sheet.boundingBox();
    const seen = await sheet.screenshot();
    const asked = requests.map((one) => one.split('/').at(-1)?.split('?')[0]);
    const [picture, worker] = ['first-page', 'pdf.worker.min.mjs'].map((name) => asked.indexOf(name));
    t.true(picture !== -1 && (worker === -1 || (picture ?? 0) < (worker ?? 0)), asked.join(' '));
    t.is(asked.filter((name) => name === 'first-page').length, 1);

    // A picture is not the document: it does not count as read.
    await openUnread(page);
    t.true(await page.locator('#unread').isVisible());
    await page.keyboard.press('Escape');
    go();
    await page.locator('.page[data-drawn]').waitFor();
    await page.locator('.page .sheet-of').first().waitFor({ state: 'detached' });
    t.deepEqual(await sheet.boundingBox(), before);
    const share = await difference(page, seen, await sheet.screenshot());
    t.log(`${(100 * share).toFixed(2)} % of the pixels differ`);
    t.true(share < 0.02, `${share} of the pixels differ`);
    t.is(await page.evaluate('moved'), 0);
  },
);

test.serial(
  'a picture that is still drawn delays nothing, and moves nothing when it comes or is late',
  async (t) => {
    let finish = () => {};
    const coming = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const site = await startWithPicture(t, paintedPdf(), coming);
    const { page, requests } = await visit(t, site.url, PHONE);
    let go = () => {};
    const released = new Promise<void>((resolve) => {
      go = resolve;
    });
    await page.route('**/pdf.min.mjs', async (route) => {
      await released;
      await route.continue();
    });
    const asked = page.waitForRequest('**/pdf.worker.min.mjs');
    await page.goto(`${site.url}${site.signPath}`, { waitUntil: 'commit' });
    const sheet = page.locator('.page').first();
    // Scripts run once the styles are there; until then the sheet stands elsewhere.
    await asked;
    const before = await sheet.boundingBox();
    finish();
    await page.evaluate(`document.querySelector('img.sheet-of').decode()`);
    t.deepEqual(await sheet.boundingBox(), before);
    go();
    await page.locator('.page[data-drawn]').waitFor();
    t.deepEqual(await sheet.boundingBox(), before);
    t.is(requests.filter((one) => one.includes('/first-page')).length, 1);

    // The drawing of the browser is faster than the service.
    const late = await startWithPicture(t, paintedPdf(), new Promise(() => {}));
    const other = await visit(t, late.url, PHONE);
    const failed = other.page.waitForEvent('requestfailed', (one) => one.url().includes('/first-page'));
    await other.page.goto(`${late.url}${late.signPath}`, { waitUntil: 'commit' });
    await other.page.locator('.page[data-drawn]').waitFor();
    t.is((await failed).failure()?.errorText, 'net::ERR_ABORTED');
    t.is(await other.page.locator('.sheet-of').count(), 0);
  },
);

test.serial('without a picture the page begins with a sheet of the true size', async (t) => {
  const file = clausePdf(2);
  const firstPage = { width: 595, height: 842, picture: 'none' } as const;
  const site = await startPagesServer(t, { file, document: { firstPage } });
  const visited = await visit(t, site.url, PHONE);
  const { page, requests } = visited;
  let go = () => {};
  const released = new Promise<void>((resolve) => {
    go = resolve;
  });
  await page.route('**/pdf.min.mjs', async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(`${site.url}${site.signPath}`);
  const sheet = page.locator('.page').first();
  await page.locator('#guide-next:enabled').waitFor();
  const before = await sheet.boundingBox();
  t.is(Math.round(before?.height ?? 0), Math.round(((before?.width ?? 0) * 842) / 595));
  go();
  await page.locator('.page[data-drawn]').first().waitFor();
  const after = await sheet.boundingBox();
  t.is(after?.y, before?.y);
  t.true(Math.abs((after?.height ?? 0) - (before?.height ?? 0)) < 1);
  t.false(requests.some((one) => one.includes('/first-page')));
});

test.serial('a wider page further down does not make those before it smaller', async (t) => {
  let pages = 0;
  const text = clausePdf(3)
    .toString('latin1')
    .replaceAll('/MediaBox [0 0 595 842]', (box) => {
      pages += 1;
      return pages === 2 ? '/MediaBox [0 0 842 595]' : box;
    });
  const site = await startPagesServer(t, { file: Buffer.from(text, 'latin1') });
  const { page } = await visit(t, site.url, PHONE);
  await page.goto(`${site.url}${site.signPath}`);
  await page.locator('.page[data-drawn]').first().waitFor();
  const before = await page.locator('.page').first().boundingBox();
  // The sizes of the others are known.
  await page.locator('.page[data-page="3"] .textLayer').waitFor({ state: 'attached' });
  t.deepEqual(await page.locator('.page').first().boundingBox(), before);
  const shapes = await page.evaluate<readonly (readonly number[])[]>(
    `[...document.querySelectorAll('.page')].map(({ clientWidth, clientHeight }) => [clientWidth, clientHeight])`,
  );
  const [[across = 0, down = 0] = []] = shapes;
  t.deepEqual(shapes[2], shapes[0]);
  t.is(shapes[1]?.[0], across);
  t.true(Math.abs((shapes[1]?.[1] ?? 0) - (across * across) / down) < 2, JSON.stringify(shapes));
});

test.serial('a page whose drawing fails is drawn again', async (t) => {
  const site = await startPagesServer(t, { file: clausePdf(1) });
  const visited = await visit(t, site.url, PHONE);
  const { page } = visited;
  // A phone refuses a canvas while others are freed.
  await page.addInitScript(`{
    const give = HTMLCanvasElement.prototype.getContext;
    let refused = 2;
    HTMLCanvasElement.prototype.getContext = function (...given) {
      if (this.width > 300 && refused > 0) {
        refused -= 1;
        return null;
      }
      return give.apply(this, given);
    };
  }`);
  await page.goto(`${site.url}${site.signPath}`);
  await page.locator('.page[data-drawn]').waitFor();
  t.is(await page.locator('.page canvas').count(), 1);
});

test.serial('the end of a visit shows the signed page with the place of the signature', async (t) => {
  const place = { topLeftX: 100, topLeftY: 400, width: 300, height: 100, pageNumber: 2 };
  const site = await startPagesServer(t, {
    file: clausePdf(3),
    action: { marks: [{ type: 'SignatureVisualRepresentation', fontSize: null, ...place }] },
  });
  const { page } = await visit(t, site.url, PHONE);
  await page.goto(`${site.url}${site.signPath.replace(/ticket=.*/, 'ticket=state-done')}`);
  const small = page.locator('#signed-page');
  const before = await small.boundingBox();
  await small.locator('canvas').waitFor();
  t.is((await small.boundingBox())?.height, before?.height);
  const shades = await page.evaluate<readonly (readonly number[])[]>(`(() => {
    const canvas = document.querySelector('#signed-page canvas');
    const context = canvas.getContext('2d');
    const scale = canvas.width / 595;
    return [[250, 450], [500, 450]].map(([x, y]) => [...context.getImageData(x * scale, y * scale, 1, 1).data]);
  })()`);
  const [inside = [], outside = []] = shades;
  t.deepEqual(outside.slice(0, 3), [255, 255, 255]);
  t.true((inside[2] ?? 0) > (inside[0] ?? 0) + 40, inside.join(' '));
});
