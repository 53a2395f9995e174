import test from 'ava';
import { classicPdf, documentObjects } from '../crypto/pdf/build.ts';
import { withTools } from '../verifiers/tool.ts';
import { closeBrowser, openSigning, visit } from './browser.ts';
import { KEY, startPagesServer, TICKET } from './pages-server.ts';

const toolTest = withTools(test, 'chromium');

test.after.always(() => closeBrowser());

toolTest.serial('a browser of three years ago gets a build of pdf.js that it can run', async (t) => {
  const site = await startPagesServer(t);
  const visited = await visit(t, site.url, { locale: 'en-US' });
  const { page, requests } = visited;
  // Features that such a browser lacks.
  await page.addInitScript('delete Math.sumPrecise; delete Map.prototype.getOrInsertComputed');
  await page.goto(`${site.url}${site.signPath}`);
  await page.locator('.page[data-drawn]').first().waitFor();
  await page.getByText('Clause 3').waitFor({ state: 'attached' });
  t.true(requests.some((request) => request.endsWith('/old-pdf.min.mjs')));
  t.false(requests.some((request) => request.endsWith('/pdf.min.mjs')));
});

toolTest.serial('a scanned page in fax compression is decoded under the policy of the pages', async (t) => {
  const site = await startPagesServer(t, { file: scannedPdf() });
  const visited = await visit(t, site.url, { locale: 'en-US' });
  const { page } = visited;
  await page.goto(`${site.url}${site.signPath}`);
  await page.locator('.page[data-drawn]').first().waitFor();
  const pixel = await page.evaluate(`(() => {
    const canvas = document.querySelector('.page canvas');
    return [...canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data];
  })()`);
  t.deepEqual(pixel, [0, 0, 0, 255], 'the page is not black, as it was scanned');
});

toolTest.serial('the selectable text covers its picture at each rotation of a page', async (t) => {
  const objects = documentObjects({ pages: 4, text: 'Clause' });
  let turn = 0;
  for (const [number, body] of objects) {
    if (!body.includes('/MediaBox')) continue;
    objects.set(number, body.replace('/MediaBox [0 0 200 200]', `/Rotate ${turn} /MediaBox [0 0 300 200]`));
    turn += 90;
  }
  const site = await startPagesServer(t, { file: classicPdf(objects) });
  const visited = await visit(t, site.url, { locale: 'en-US', viewport: { width: 700, height: 2400 } });
  const { page } = visited;
  await page.goto(`${site.url}${site.signPath}`);
  for (const number of [1, 2, 3, 4]) {
    await page
      .locator(`.page[data-page="${number}"][data-drawn] .textLayer[translate="no"] span`)
      .waitFor({ state: 'attached' });
  }
  // Left, top, right and bottom of the words and of the ink on each page, CSS pixels.
  const places = (await page.evaluate(`[...document.querySelectorAll('.page')].map((leaf) => {
    const frame = leaf.getBoundingClientRect();
    const text = leaf.querySelector('.textLayer span').getBoundingClientRect();
    const canvas = leaf.querySelector('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const xs = [];
    const ys = [];
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] >= 128) continue;
      xs.push((at / 4) % canvas.width);
      ys.push(Math.floor(at / 4 / canvas.width));
    }
    const scale = frame.width / canvas.width;
    return {
      text: [text.left - frame.left, text.top - frame.top, text.right - frame.left, text.bottom - frame.top],
      ink: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)].map((value) => value * scale),
    };
  })`)) as readonly { readonly text: readonly number[]; readonly ink: readonly number[] }[];
  t.is(places.length, 4);
  for (const { text, ink } of places) {
    const apart = text.map((value, index) => Math.abs(value - (ink[index] ?? Number.NaN)));
    t.true(Math.max(...apart) < 15, `${text.join(' ')} and ${ink.join(' ')}`);
  }
});

test.serial(
  'the pages have strict headers, no cookies, and compressed scripts within the size limit',
  async (t) => {
    const site = await startPagesServer(t, { embedOrigins: [] });
    const look = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${site.url}${path}`, { headers });
    for (const path of [
      site.signPath,
      site.embedPath,
      '/check',
      `/check/${KEY}`,
      '/position-marks/none?v=1',
    ]) {
      const answer = await look(path);
      const policy = answer.headers.get('content-security-policy') ?? '';
      t.regex(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/, path);
      t.notRegex(policy, /unsafe|https?:/, path);
      t.is(answer.headers.get('cache-control'), 'no-store', path);
      t.is(answer.headers.get('referrer-policy'), 'no-referrer', path);
      t.is(answer.headers.get('x-content-type-options'), 'nosniff', path);
      t.is(answer.headers.get('set-cookie'), null, path);
      const html = await answer.text();
      t.notRegex(html, /\son\w+=|style=|<script>|javascript:/i, path);
    }
    const file = await look(`/document/key/${KEY}/content?ticket=${TICKET}`);
    t.regex(file.headers.get('content-disposition') ?? '', /^attachment/);
    t.is((await look(`/document/key/${KEY}/content?ticket=wrong`)).status, 422);
    const key = await look('/document/assets/key-worker.js');
    t.is(key.headers.get('content-security-policy'), "default-src 'none'; script-src 'self'");

    const html = await (await look(site.signPath)).text();
    const names = [...html.matchAll(/\/document\/assets\/([\w-]+\.js)/g)].map(([, name]) => name ?? '');
    let own = 0;
    let whole = 0;
    for (const name of [...names, 'pdf.min.mjs', 'pdf.worker.min.mjs']) {
      const answer = await look(`/document/assets/${name}`, { 'accept-encoding': 'br' });
      const bytes = Number(answer.headers.get('content-length'));
      // Small ones are sent as they are.
      if (answer.headers.get('content-encoding') !== 'br') t.true(bytes < 1000, name);
      if (name.endsWith('.js')) own += bytes;
      whole += bytes;
      const again = await look(`/document/assets/${name}`, {
        'accept-encoding': 'br',
        'if-none-match': answer.headers.get('etag') ?? '',
      });
      t.is(again.status, 304, name);
    }
    t.log(`scripts of the signing page: ${own} bytes of our own, ${whole} with pdf.js`);
    t.deepEqual(names, ['early-pdf.js', 'signing-client.js']);
    t.true(own < 19_000, `${own} bytes`);
    t.true(whole < 480_000, `${whole} bytes`);
    for (const name of ['pdf.min.mjs', 'old-pdf.worker.min.mjs']) {
      const [packed, plain] = await Promise.all(
        ['br', 'identity'].map((coding) => look(`/document/assets/${name}`, { 'accept-encoding': coding })),
      );
      t.not(packed?.headers.get('etag'), plain?.headers.get('etag'), name);
      t.is(await packed?.text(), await plain?.text(), name);
    }
    t.is((await look('/document/assets/..%2f..%2fpackage.json')).status, 404);
    t.is((await look('/document/assets/cmaps/..%2f..%2fpackage.json')).status, 404);
  },
);

toolTest.serial(
  'letters of a document are drawn as paths where the browser uses no fonts of pages',
  async (t) => {
    const site = await startPagesServer(t);
    const visited = await visit(t, site.url, { locale: 'en-US' });
    const { page } = visited;
    await page.addInitScript(`window.added = [];
    const { add } = document.fonts;
    document.fonts.add = function (face) { window.added.push(face.family); return add.call(document.fonts, face); };`);
    await page.goto(`${site.url}${site.signPath}`);
    await page.locator('.page[data-drawn]').first().waitFor();
    const added = await page.evaluate<string[]>('window.added');
    t.true(
      added.some((family) => family.startsWith('g_')),
      `the file brings a font: ${added.join(' ')}`,
    );
    await page.addInitScript(
      `window.refused = []; document.fonts.add = (face) => { window.refused.push(face.family); return document.fonts; };`,
    );
    await page.reload();
    await page.locator('.page[data-drawn]').first().waitFor();
    t.deepEqual(await page.evaluate<string[]>('window.refused'), ['wide-probe']);
  },
);

toolTest.serial('a part that is not loaded is named, and a restored page is loaded again', async (t) => {
  const site = await startPagesServer(t);
  const visited = await visit(t, site.url, { locale: 'en-US' });
  const { page } = visited;
  await page.route('**/pdf.worker.min.mjs', (route) => route.fulfill({ status: 503 }));
  await page.goto(`${site.url}${site.signPath}`);
  await page.getByText('The document could not be shown. Download it to read it.').waitFor();
  await page.unroute('**/pdf.worker.min.mjs');

  await page.route('**/signing-client.js', (route) => route.fulfill({ status: 503 }));
  await page.reload();
  const missing = page.getByText('A part of this page was not loaded. Load the page again.');
  t.false(await missing.isVisible(), 'shown while the page may still load');
  await page.evaluate(
    'document.querySelector("#part-missing").getAnimations().forEach((one) => one.finish())',
  );
  await missing.waitFor();
  await page.unroute('**/signing-client.js');
  await page.reload();
  await page.locator('.page[data-drawn]').first().waitFor();
  await missing.waitFor({ state: 'detached' });

  const again = page.waitForEvent('framenavigated');
  await page.evaluate(`window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: false }))`);
  await page.evaluate(`window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
  await again;
});

toolTest.serial('no picture is sealed where a canvas gives back noise', async (t) => {
  const site = await startPagesServer(t);
  const visited = await visit(t, site.url, { locale: 'en-US' });
  const { page } = visited;
  // As browsers do that protect against fingerprints: one colour in place of what was painted.
  await page.addInitScript(`const { toDataURL } = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.toDataURL = function (...kind) {
      const noise = document.createElement('canvas');
      noise.width = this.width;
      noise.height = this.height;
      const context = noise.getContext('2d');
      context.fillStyle = '#7b3f91';
      context.fillRect(0, 0, noise.width, noise.height);
      return toDataURL.apply(noise, kind);
    };`);
  await page.goto(`${site.url}${site.signPath}`);
  await openSigning(page);
  await page.getByText('This browser changes pictures that a page makes').waitFor();
  t.true(await page.getByRole('tab', { name: 'Draw' }).isDisabled());
  t.true(await page.getByLabel('Printed name').isChecked());
  await page.getByRole('button', { name: 'Sign the document' }).click();
  await page.getByText('You signed the document.').waitFor();
  t.is(site.done[0]?.given['image'], undefined);
});

toolTest.serial(
  'one finger draws at a time, and a wrong picture takes the place of the earlier one',
  async (t) => {
    const site = await startPagesServer(t);
    const visited = await visit(t, site.url, { locale: 'en-US' });
    const { page } = visited;
    await page.goto(`${site.url}${site.signPath}`);
    await openSigning(page);
    await page.getByRole('tab', { name: 'Draw' }).click();
    await page.getByText('Undo').waitFor();
    const strokes = await page.evaluate<number[][][]>(`(() => {
    const area = document.querySelector('#drawing-area');
    area.setPointerCapture = () => {};
    const { left, top, width, height } = area.getBoundingClientRect();
    const send = (type, pointerId, x, y) => area.dispatchEvent(new PointerEvent(type, {
      pointerId, button: 0, isPrimary: pointerId === 1, clientX: left + x * width, clientY: top + y * height, cancelable: true,
    }));
    send('pointerdown', 1, 0.1, 0.5);
    send('pointermove', 1, 0.2, 0.5);
    send('pointerdown', 2, 0.9, 0.9);
    send('pointermove', 2, 0.8, 0.9);
    send('pointerup', 2, 0.8, 0.9);
    send('pointermove', 1, 0.3, 0.5);
    send('pointerup', 1, 0.3, 0.5);
    return JSON.parse(sessionStorage.getItem(Object.keys(sessionStorage).find((name) => name.startsWith('drawing'))));
  })()`);
    t.deepEqual(strokes, [
      [
        [0.1, 0.5],
        [0.2, 0.5],
        [0.3, 0.5],
      ],
    ]);

    await page.getByRole('tab', { name: 'Upload' }).click();
    const file = page.getByLabel('Picture (PNG, JPEG or WebP)');
    const [, good = ''] = (
      await page.evaluate<string>(
        'Object.assign(document.createElement("canvas"), { width: 30, height: 10 }).toDataURL()',
      )
    ).split(',');
    await file.setInputFiles({
      name: 'signature.png',
      mimeType: 'image/png',
      buffer: Buffer.from(good, 'base64'),
    });
    const preview = page.getByRole('img', { name: 'Preview of your signature' });
    await preview.waitFor();
    await file.setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
    await page.getByText('This file is no picture').waitFor();
    await preview.waitFor({ state: 'hidden' });
  },
);

/** A page that is one black picture of 64 by 64 pixels in CCITT group 4. */
function scannedPdf(): Buffer {
  // One line in horizontal mode (64 black), the others like the one above, end of block.
  const bits = `001${'00110101'}${'0000001111'}${'0000110111'}${'11'.repeat(63)}${'000000000001'.repeat(2)}`;
  const bytes = Buffer.from(
    (bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)),
  );
  const content = 'q 200 0 0 200 0 0 cm /I Do Q';
  const picture =
    '<< /Type /XObject /Subtype /Image /Width 64 /Height 64 /ColorSpace /DeviceGray /BitsPerComponent 1 ' +
    `/Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 64 /Rows 64 >> /Length ${bytes.length} >>`;
  return Buffer.from(
    `%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Count 1 /Kids [3 0 R] >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >> endobj
4 0 obj << /Length ${content.length} >>
stream
${content}
endstream endobj
5 0 obj ${picture}
stream
${bytes.toString('latin1')}
endstream endobj
trailer << /Root 1 0 R /Size 6 >>
%%EOF
`,
    'latin1',
  );
}
