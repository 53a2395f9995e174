/** The signing page in Firefox and WebKit. */
import { readFile, writeFile } from 'node:fs/promises';
import ava from 'ava';
import { freshPath } from '../../crypto/pades/validation/verdicts.ts';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { runTool, withTools } from '../../verifiers/tool.ts';
import { CODE, startPagesServer } from '../pages-server.ts';
import { openHost } from '../portal/embedding-host.ts';
import { closeEngines, ENGINE_TOOLS, Engine, type PointerStep } from './engine.ts';
import { startFront } from './front.ts';

ava.after.always(() => closeEngines());

const ENGINES = ['firefox', 'webkit'] as const;

const firefoxTest = withTools(ava, ...ENGINE_TOOLS.firefox);

const place = (topLeftY: number) => ({ topLeftX: 60, topLeftY, width: 200, height: 30, pageNumber: 1 });
const FIELDS = ['City', 'Street'].map((label, index) => ({
  id: `f${index}`,
  name: label.toLowerCase(),
  label,
  type: 'Text' as const,
  isRequired: true,
  formField: null,
  maxLength: 100,
  minimum: null,
  maximum: null,
  format: null,
  options: [],
  place: place(100 + index * 60),
}));

/** A stroke from the left to the right of an element. @param at its height in the element, 0 to 1 */
async function strokeOn(engine: Engine, selector: string, at: number): Promise<readonly PointerStep[]> {
  const [left, top, width, height] = await engine.value<readonly [number, number, number, number]>(
    `(({ left, top, width, height }) => [left, top, width, height])(document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect())`,
  );
  const move = (x: number, duration: number) =>
    ({
      type: 'pointerMove',
      x: Math.round(left + width * x),
      y: Math.round(top + height * at),
      duration,
    }) as const;
  return [
    move(0.2, 0),
    { type: 'pointerDown', button: 0 },
    move(0.5, 20),
    move(0.8, 20),
    { type: 'pointerUp', button: 0 },
  ];
}

const STROKES = `JSON.parse(sessionStorage.getItem(Object.keys(sessionStorage).find((name) => name.startsWith('drawing'))))`;

for (const name of ENGINES) {
  const test = withTools(ava, ...ENGINE_TOOLS[name]);
  test.serial(`a participant fills in the fields, draws a signature and signs in ${name}`, async (t) => {
    const site = await startPagesServer(t, {
      action: {
        codes: [{ channel: 'Email', to: 'a***@example.test' }],
        fields: FIELDS,
        marks: [{ ...place(500), height: 60, fontSize: null, type: 'SignatureVisualRepresentation' }],
      },
    });
    const engine = await Engine.shared(name);
    const front = await startFront(t, site.url);
    front.withheld = 'email-authentication-code';
    await engine.open(`${front.url}${site.signPath}`);
    await engine.until(`document.querySelector('.page[data-drawn]') !== null`);
    await engine.until(`document.querySelector('#guide-next').textContent === 'Start'`);
    await engine.press('#guide-next');
    t.is(await engine.value('document.activeElement.id'), 'field-0');

    // Enter that confirms a word of an input method is not the end of the field.
    const enter = (init: string) =>
      engine.value(
        `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ${init} }))`,
      );
    await engine.type('#field-0', 'Łódź');
    await enter('isComposing: true');
    await enter('keyCode: 229');
    t.is(await engine.value('document.activeElement.id'), 'field-0', 'Enter ended the composition only');
    await enter('keyCode: 13');
    t.is(await engine.value('document.activeElement.id'), 'field-1');

    // After the last place, what is missing is marked, and nothing is signed.
    await engine.press('#guide-next');
    await engine.press('#guide-next');
    await engine.shows('Street:');
    t.is(await engine.value('document.activeElement.id'), 'field-1', 'the field that is missing');
    await engine.type('#field-1', 'Rua Á');
    const good = freshPath('signature.png');
    await writeFile(good, await engine.picture('#guide'));

    // A button that takes no focus has its message at it all the same.
    await engine.press('#guide-next');
    await engine.shows('That did not work.');
    t.is(
      await engine.value(`document.querySelector('#outcome').previousElementSibling?.id`),
      'send-code',
      'the message is at its button',
    );
    front.withheld = undefined;
    await engine.press('#send-code');
    await engine.shows('The code was sent');

    // A wrong picture takes the place of the earlier one.
    await engine.press('#tab-picture');
    await engine.type('#picture-file', good);
    await engine.until(`!document.querySelector('#picture-preview').hidden`);
    const bad = freshPath('notes.png');
    await writeFile(bad, 'no picture');
    await engine.type('#picture-file', bad);
    await engine.shows('This file is no picture');
    await engine.until(`document.querySelector('#picture-preview').hidden`);

    // Two fingers at once: the second draws nothing. (WebKitWebDriver has one pointer, the mouse.)
    await engine.press('#tab-drawn');
    await engine.value(`document.querySelector('#drawing-area').scrollIntoView({ block: 'center' })`);
    const stroke = await strokeOn(engine, '#drawing-area', 0.3);
    const wait = { type: 'pause', duration: 0 } as const;
    const second = [wait, wait, ...(await strokeOn(engine, '#drawing-area', 0.8))];
    if (name === 'webkit') await engine.point('mouse', stroke);
    else await engine.point('touch', stroke, second);
    await engine.until(`document.querySelector('[data-mark][data-filled]') !== null`);
    const strokes = await engine.value<readonly (readonly (readonly [number, number])[])[]>(STROKES);
    t.is(strokes.length, 1);
    t.true(
      strokes[0]?.every(([, y]) => Math.abs(y - 0.3) < 0.02),
      JSON.stringify(strokes),
    );

    await engine.type('#email-code', CODE);
    await engine.shows('You signed the document.');
    const given = site.done.find(({ what }) => what === 'electronic')?.given;
    t.deepEqual(given?.['fieldValues'], { city: 'Łódź', street: 'Rua Á' });
    const image = given?.['image'];
    if (!Buffer.isBuffer(image)) return t.fail('no picture was sent');
    t.is(image.toString('latin1', 1, 4), 'PNG');
  });

  test.serial(`a page of ${name} that was kept for Back shows what has become of the document`, async (t) => {
    const site = await startPagesServer(t);
    const engine = await Engine.shared(name);
    const url = `${site.url}${site.signPath}`;
    await engine.open(url);
    await engine.until(`document.querySelector('.page[data-drawn]') !== null`);
    await engine.open(`${site.url}/check`);
    await engine.open(`${url}&culture=es`);
    await engine.until(`document.querySelector('.page[data-drawn]') !== null`);
    await engine.press('#guide-next');
    await engine.press('#electronic button[type="submit"]');
    await engine.until(`document.querySelector('#forms') === null`);
    await engine.back();
    await engine.until(`location.pathname.endsWith('/check')`);
    await engine.back();
    await engine.until(`location.pathname.endsWith('/check') === false`);
    await engine.shows('You signed');
    t.is(await engine.value(`document.querySelector('#electronic')`), null);
  });

  test.serial(`a frame of another site signs in ${name}, and its parent receives the events`, async (t) => {
    const origins = ['https://other.example'];
    const site = await startPagesServer(t, { embedOrigins: origins });
    const host = await openHost(
      t,
      site,
      `const widget = new SealwrightWidget({ culture: 'en' });
      for (const type of ['ready', 'documentSigned', 'signed', 'error', 'closed']) widget.on(type, note);
      widget.render(embedUrl, 'place');`,
    );
    const engine = await Engine.shared(name);
    const heard = `[...document.querySelectorAll('#heard li')].map((one) => JSON.parse(one.textContent).type)`;
    await engine.open(host);
    await engine.until(`${heard}.length > 0`);
    t.deepEqual(await engine.value(heard), ['error'], 'the organization does not list the site');
    origins[0] = host;
    await engine.open(host);
    await engine.enter('#place iframe');
    await engine.until(`document.querySelector('.page[data-drawn]') !== null`);
    await engine.until(`document.querySelector('#guide-next')?.disabled === false`);
    await engine.press('#guide-next');
    await engine.press('#electronic button[type="submit"]');
    await engine.shows('You signed the document.');
    t.is(await engine.value('document.cookie'), '');
    await engine.enter(undefined);
    await engine.until(`${heard}.includes('closed')`);
    t.deepEqual(await engine.value(heard), ['ready', 'documentSigned', 'signed', 'closed']);
    t.is(site.done.at(-1)?.given['disableNotifications'], true);
  });

  test.serial(
    `two fingers make the page on the screen sharp in ${name}, within the memory of a phone`,
    async (t) => {
      const site = await startPagesServer(t, { file: clausePdf(12) });
      const engine = await Engine.shared(name);
      await engine.open(`${site.url}${site.signPath}`);
      await engine.until(`document.querySelector('.page[data-drawn]') !== null`);
      // Its driver has no fingers: the page gets what the browser tells it while they move.
      const pinch = (scale: number) =>
        engine.value(`(() => {
        Object.defineProperty(VisualViewport.prototype, 'scale', { configurable: true, get: () => ${scale} });
        for (let move = 0; move < 20; move += 1) visualViewport.dispatchEvent(new Event(move % 2 ? 'scroll' : 'resize'));
      })()`);
      const canvases = `[...document.querySelectorAll('.page canvas')]`;
      const fineness = '({ width, clientWidth }) => width / clientWidth';
      const usual = await engine.value<number>(`(${fineness})(${canvases}[0])`);
      /** Pixels of each canvas that is finer by this factor. */
      const finer = (by: number) =>
        `${canvases}.filter((one) => (${fineness})(one) > ${usual * by}).map(({ width, height }) => width * height)`;
      await pinch(2);
      await engine.until(`${finer(1.9)}.length > 0`);
      await pinch(30);
      await engine.until(`${finer(2.1)}.length > 0`);
      const large = await engine.value<readonly number[]>(finer(1.1));
      t.true(large.length <= 2 && Math.max(...large) < 12_100_000, `${large}`);
      await pinch(1);
      await engine.until(`${finer(1.1)}.length === 0`);
    },
  );

  test.serial(`a part of the page that ${name} does not get is named`, async (t) => {
    const site = await startPagesServer(t);
    const engine = await Engine.shared(name);
    const front = await startFront(t, site.url);
    for (const [part, said] of [
      ['pdf.worker.min.mjs', 'The document could not be shown. Download it to read it.'],
      ['pdf.min.mjs', 'The document could not be shown. Download it to read it.'],
      ['signing-client.js', 'A part of this page was not loaded. Load the page again.'],
    ] as const) {
      front.withheld = part;
      await engine.open(`${front.url}${site.signPath}`);
      // The text of the page itself comes some seconds later, by an animation.
      await engine.value('document.getAnimations().forEach((one) => one.finish())');
      await engine.shows(said);
      t.true(front.refused > 0, `${part} was never asked for`);
      front.refused = 0;
    }
    front.withheld = undefined;
    await engine.reload();
    await engine.until(`document.querySelector('.page[data-drawn]') !== null`);
    t.false(await engine.value(`document.body.innerText.includes('was not loaded')`));
  });
}

/** Rows with ink, and dark pixels, below the header in a picture: read by a page that is not protected. */
async function inkOf(
  engine: Engine,
  picture: Buffer,
): Promise<{ readonly rows: number; readonly dark: number }> {
  await engine.open('about:blank');
  return engine.value(`(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${picture.toString('base64')}';
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 200, image.width, 500);
    const rows = new Set();
    let dark = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] > 127) continue;
      dark += 1;
      rows.add(Math.floor(at / 4 / image.width));
    }
    return { rows: rows.size, dark };
  })()`);
}

firefoxTest.serial(
  'where Firefox protects its user, letters are readable and no noise is sealed',
  async (t) => {
    const site = await startPagesServer(t, { file: clausePdf(1) });
    const plain = await Engine.shared('firefox');
    const safe = await Engine.start(t, 'firefox', {
      preferences: { 'privacy.resistFingerprinting': true, 'gfx.downloadable_fonts.enabled': false },
    });
    const pictures: Buffer[] = [];
    for (const engine of [plain, safe]) {
      await engine.open(`${site.url}${site.signPath}`);
      await engine.until(`document.querySelector('.page[data-drawn]') !== null`);
      pictures.push(await engine.picture('.page canvas'));
    }
    await safe.press('#guide-next');
    await safe.shows('This browser changes pictures that a page makes');
    t.true(await safe.value(`document.querySelector('#tab-drawn').disabled`));
    await safe.press('#electronic button[type="submit"]');
    await safe.shows('You signed the document.');
    t.is(site.done.at(-1)?.what, 'electronic');
    t.is(site.done.at(-1)?.given['image'], undefined);

    const usual = await inkOf(plain, pictures[0] ?? Buffer.alloc(0));
    const protectedOne = await inkOf(plain, pictures[1] ?? Buffer.alloc(0));
    t.log(usual, protectedOne);
    t.true(usual.dark > 20, 'nothing is drawn');
    t.true(Math.abs(protectedOne.rows - usual.rows) <= 2);
    t.true(Math.abs(protectedOne.dark - usual.dark) < usual.dark * 0.3);
  },
);

withTools(
  firefoxTest.serial,
  'pdftotext',
  'pdftoppm',
)('the own print command of Firefox leaves no sheet without a word', async (t) => {
  const site = await startPagesServer(t, { file: clausePdf(6) });
  const engine = await Engine.shared('firefox');
  await engine.open(`${site.url}${site.signPath}`);
  await engine.until(`document.querySelector('.page[data-drawn]') !== null`);
  const path = freshPath('printed.pdf');
  await writeFile(path, await engine.print());
  const { stdout } = await runTool('pdftotext', ['-layout', path, '-']);
  const named = stdout.split('\f').filter((sheet) => sheet.includes('is not loaded'));
  t.true(named.length > 0, 'all pages were drawn before');
  // Pages that were drawn are printed as pictures.
  await runTool('pdftoppm', ['-gray', '-r', '40', path, path]);
  for (let number = 1; number <= 6; number += 1) {
    const pixels = await readFile(`${path}-${number}.pgm`);
    t.true(
      pixels.subarray(20).some((grey) => grey < 128),
      `sheet ${number} is blank`,
    );
  }
});
