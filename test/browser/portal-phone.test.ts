import ava, { type ExecutionContext } from 'ava';
import type { Page, Route } from 'playwright-core';
import { clausePdf } from '../crypto/pdf/build.ts';
import { reached } from '../project/waiting.ts';
import { withTools } from '../verifiers/tool.ts';
import { assertAccessible } from './axe.ts';
import { closeBrowser, openSigning, visit } from './browser.ts';
import { CODE, startPagesServer } from './pages-server.ts';

const test = withTools(ava, 'chromium');

test.after.always(() => closeBrowser());

const PHONE = {
  locale: 'en-US',
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  hasTouch: true,
  isMobile: true,
  reducedMotion: 'reduce',
} as const;

/** Texts of the primary buttons that are on the screen. */
function primaryButtons(page: Page): Promise<readonly string[]> {
  return page.evaluate(`[...(document.querySelector('dialog[open]') ?? document).querySelectorAll('.main:is(button, a)')]
    .filter((button) => {
      const { top, bottom, width } = button.getBoundingClientRect();
      return width > 0 && bottom > 0 && top < window.innerHeight;
    })
    .map((button) => button.textContent)`);
}

/**
 * Lists buttons, links and fields (with the labels around them) that are less than 44 px high or wide. Not the line above
 * the document: a higher one would push the document down.
 */
function smallTargets(page: Page): Promise<readonly string[]> {
  return page.evaluate(`[...document.querySelectorAll('a, button, summary, select, input, textarea')]
    .map((one) => one.closest('label') ?? one)
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.matches('.skip, .page *, .about *'))
    .filter((one) => {
      const { width, height } = one.getBoundingClientRect();
      return width > 0 && (width < 44 || height < 44);
    })
    .map((one) => one.outerHTML.slice(0, 120))`);
}

/** Holds the first request for an address: `route` resolves when it has come. */
async function holdFirst(page: Page, url: string): Promise<{ readonly route: Promise<Route> }> {
  let take: (route: Route) => void = () => {};
  const route = new Promise<Route>((resolve) => {
    take = resolve;
  });
  await page.route(url, (one) => take(one));
  return { route };
}

/** Evaluates to the distances of the digits from the middles of their boxes, CSS pixels; NaN for an empty one. */
const inkOfBoxes = (picture: string) => `(async () => {
  const bytes = Uint8Array.from(atob('${picture}'), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes]));
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const whole = document.querySelector('.boxes').getBoundingClientRect();
  const scale = bitmap.width / whole.width;
  return [...document.querySelectorAll('.boxes i')].map((box) => {
    const { left, width } = box.getBoundingClientRect();
    const inside = Math.round((width - 8) * scale);
    const { data } = context.getImageData(
      Math.round((left - whole.left + 4) * scale), Math.round(bitmap.height * 0.2), inside, Math.round(bitmap.height * 0.6));
    let sum = 0, ink = 0;
    for (let at = 0; at < data.length; at += 4)
      if (Math.abs(data[at] - data[0]) > 90) { ink += 1; sum += (at / 4) % inside; }
    return (sum / ink - inside / 2) / scale;
  });
})()`;

const ALONE = [{ name: 'Ana', type: 'Signer', step: 1, status: 'Pending', isYou: true }] as const;

test.serial('messages on a phone appear near the focused element, with one primary button', async (t) => {
  const site = await startPagesServer(t, {
    action: { codes: [{ channel: 'Email', to: 'a***@example.test' }] },
    participants: ALONE,
  });
  const visited = await visit(t, site.url, PHONE);
  const { page } = visited;
  await page.goto(`${site.url}${site.signPath}`);
  await page.locator('.page[data-drawn]').first().waitFor();
  t.deepEqual(await primaryButtons(page), ['Sign']);
  await page.getByRole('button', { name: 'Sign', exact: true }).tap();

  const outcome = page.locator('#outcome');
  const seen = async (text: RegExp) => {
    await outcome.filter({ hasText: text }).waitFor();
    const box = await outcome.boundingBox();
    t.true(box !== null && box.y >= 0 && box.y + box.height <= 844, `${text} is off the screen`);
  };
  await page.getByText('The code was sent').waitFor();
  await page.getByLabel('Code from the e-mail').fill('000000');
  t.deepEqual(await primaryButtons(page), ['Sign the document']);
  await seen(/The code is wrong/);
  await assertAccessible(t, page, 'wrong code');
  const near = async () => {
    const [message, field] = await Promise.all(
      [outcome, page.locator('#email-code')].map((one) => one.boundingBox()),
    );
    return (message?.y ?? 0) - (field?.y ?? 0) - (field?.height ?? 0);
  };
  t.true((await near()) >= 0 && (await near()) < 40, 'the message is not at the field');

  await page.getByLabel('Code from the e-mail').fill(CODE);
  await seen(/You signed the document/);
  await page.getByRole('heading', { name: 'You signed it. Thank you.', exact: true }).waitFor();
  const text = (await page.locator('main').textContent()) ?? '';
  t.notRegex(text, /[Oo]thers|everybody/);
});

test.serial(
  'a single participant gets no text about others, and a single page no page navigation',
  async (t) => {
    const site = await startPagesServer(t, { file: clausePdf(1), participants: ALONE });
    const visited = await visit(t, site.url, PHONE);
    const { page } = visited;
    await page.goto(`${site.url}${site.signPath}`);
    await page.getByText('The document has one page.').waitFor({ state: 'attached' });
    await page.getByText('Refuse', { exact: true }).click();
    await page.getByText('The document cannot be signed afterwards.').waitFor();
    await page.locator('#more summary').click();
    t.deepEqual(await smallTargets(page), []);
    t.notRegex((await page.locator('main').textContent()) ?? '', /everybody/);
  },
);

test.serial('a pinch enlarges the page and renders it again at full resolution', async (t) => {
  const site = await startPagesServer(t, { file: clausePdf(1) });
  const visited = await visit(t, site.url, PHONE);
  const { page } = visited;
  await page.goto(`${site.url}${site.signPath}`);
  const canvas = page.locator('.page canvas');
  await canvas.waitFor({ state: 'attached' });
  const widths = () =>
    page.evaluate<{ width: number; clientWidth: number }>(`(() => {
      const { width, clientWidth } = document.querySelector('.page canvas');
      return { width, clientWidth };
    })()`);
  const before = await widths();
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setPageScaleFactor', { pageScaleFactor: 3 });
  await page.evaluate(`new Promise((resolve) => {
    const look = () =>
      document.querySelector('.page canvas').width > ${before.width * 2.5} ? resolve() : requestAnimationFrame(look);
    look();
  })`);
  const after = await widths();
  t.is(after.clientWidth, before.clientWidth, 'the layout has changed');
});

test.serial('all canvases of an enlarged page fit the memory of a phone while it is read', async (t) => {
  const site = await startPagesServer(t, { file: clausePdf(6) });
  const { page } = await visit(t, site.url, { ...PHONE, deviceScaleFactor: 3 });
  await page.goto(`${site.url}${site.signPath}`);
  await page.locator('.page[data-drawn]').first().waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setPageScaleFactor', { pageScaleFactor: 4 });
  const widest = `Math.max(...[...document.querySelectorAll('.page canvas')].map(({ width }) => width))`;
  for (const number of [1, 2, 3, 4]) {
    await page.evaluate(`document.querySelector('.page[data-page="${number}"]').scrollIntoView()`);
    // The page on the screen is rendered in full.
    await reached(() =>
      page.evaluate<boolean>(
        `document.querySelector('.page[data-page="${number}"] canvas')?.width === ${widest} && ${widest} > 2000`,
      ),
    );
    const bytes = await page.evaluate<number>(
      `[...document.querySelectorAll('.page canvas')].reduce((sum, { width, height }) => sum + 4 * width * height, 0)`,
    );
    t.log(`page ${number}: ${Math.round(bytes / 1e6)} MB`);
    // Older phones have 224 MB for all canvases, also of what is rendered meanwhile.
    t.true(bytes < 130_000_000, `${bytes} bytes`);
  }
});

/** Sizes of the window: phones, a desktop zoomed to 200 per cent, a desktop. */
const SIZES = [
  [390, 844, { colorScheme: 'light' }],
  [320, 640, { colorScheme: 'dark' }],
  [640, 400, { forcedColors: 'active' }],
  [1280, 800, { colorScheme: 'dark', contrast: 'more' }],
] as const;

for (const [width, height, look] of SIZES) {
  test.serial(`signing takes two taps and the code (${width} x ${height})`, async (t) => {
    const site = await startPagesServer(t, {
      action: { codes: [{ channel: 'Email', to: 'a***@example.test' }] },
    });
    const visited = await visit(t, site.url, { ...PHONE, viewport: { width, height }, ...look });
    const { page } = visited;
    await page.goto(`${site.url}${site.signPath}`);
    await page.locator('.page[data-drawn]').first().waitFor();
    let taps = 0;
    const tap = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).tap();
      taps += 1;
    };
    await tap('Sign');
    const dialog = page.getByRole('dialog', { name: 'Sign “Rental agreement <b>2027</b>”' });
    await dialog.getByRole('img', { name: 'Preview of your signature' }).waitFor();
    await page.getByText('The code was sent').waitFor();
    await page.locator('#email-code:focus').waitFor();
    await assertAccessible(t, page, `${width} x ${height}`);
    const box = await dialog.boundingBox();
    t.log(`the dialog takes ${Math.round((100 * (box?.height ?? 0)) / height)} % of the height`);
    t.true(box !== null && box.y >= 0 && box.y + box.height <= height, 'the dialog is off the screen');
    t.true((await page.evaluate<number>('document.documentElement.scrollWidth')) <= width);
    // One paste fills all boxes, whatever stands around the digits.
    const held = await holdFirst(page, '**/electronic-signature');
    // Neither six digits of a program nor more than six of a person sign.
    await page.evaluate(
      `{ const code = document.activeElement; code.value = '111111'; code.dispatchEvent(new Event('input')); }`,
    );
    for (const text of ['2029-01-31', `Your code: ${CODE.slice(0, 3)} ${CODE.slice(3)}.`]) {
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText(text);
    }
    const request = await held.route;
    t.true(request.request().postData()?.includes(CODE));
    t.is(await page.getByLabel('Code from the e-mail').inputValue(), CODE);
    t.is(await page.getByLabel('Code from the e-mail').getAttribute('autocomplete'), 'one-time-code');
    const places = await page.evaluate<readonly number[]>(
      inkOfBoxes((await page.locator('.boxes').screenshot()).toString('base64')),
    );
    t.is(places.length, 6);
    for (const [index, place] of places.entries())
      t.true(Math.abs(place) < 5, `digit ${index + 1} is ${place} pixels from the middle of its box`);
    await request.continue();
    await page.getByRole('heading', { name: 'You signed it. Thank you.', exact: true }).waitFor();
    t.is(taps, 1);
    await page.locator('#signed-page canvas').waitFor();
    t.deepEqual(await page.locator('.main:is(button, a):visible').allTextContents(), [
      'Download the signed document',
    ]);
    await assertAccessible(t, page, `signed, ${width} x ${height}`);
  });
}

test.serial('without a connection or a handwriting the dialog says it, and signs afterwards', async (t) => {
  const site = await startPagesServer(t);
  const visited = await visit(t, site.url, PHONE);
  const { page } = visited;
  await page.route('**/fonts/*.woff2', (route) => route.abort());
  await page.goto(`${site.url}${site.signPath}`);
  await page.locator('.page[data-drawn]').first().waitFor();
  await page.getByRole('button', { name: 'Sign', exact: true }).tap();
  await page.getByText('The handwriting could not be loaded.').waitFor();
  t.true(await page.getByLabel('Printed name').isChecked());
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Sign the document' }).tap();
  await page.getByRole('dialog').getByText('The service cannot be reached.').waitFor();
  t.deepEqual(site.done, []);
  await page.context().setOffline(false);
  await page.getByRole('button', { name: 'Sign the document' }).tap();
  await page.getByRole('heading', { name: 'You signed it. Thank you.', exact: true }).waitFor();
  t.is(site.done[0]?.given['image'], undefined);
});

/** Signs; the first request goes as told, and its answer is lost. */
async function signedWithoutAnswer(t: ExecutionContext, send: (route: Route) => Promise<void>) {
  const site = await startPagesServer(t);
  const visited = await visit(t, site.url, PHONE);
  const { page } = visited;
  await page.goto(`${site.url}${site.signPath}`);
  await page.locator('.page[data-drawn]').first().waitFor();
  await page.route('**/electronic-signature', send, { times: 1 });
  await page.getByRole('button', { name: 'Sign', exact: true }).tap();
  await page.getByRole('button', { name: 'Sign the document' }).tap();
  await page.getByRole('dialog').getByText('The service cannot be reached.').waitFor();
  return { site, page };
}

test.serial(
  'a signature whose answer was lost is shown as the own one, not as that of another window',
  async (t) => {
    const signed = await signedWithoutAnswer(t, async (route) => {
      await route.fetch();
      await route.abort();
    });
    const { site, page } = signed;
    t.is(site.done.length, 1);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.getByRole('heading', { name: 'You signed it. Thank you.', exact: true }).waitFor();
    t.is(site.done.length, 1);
  },
);

test.serial(
  'a signature that never arrived is not the own one where others of a rule were enough',
  async (t) => {
    const signed = await signedWithoutAnswer(t, (route) => route.abort());
    const { site, page } = signed;
    t.deepEqual(site.done, []);
    // Another person of the rule signs.
    const { pathname } = new URL(page.url());
    const body = '<!doctype html><main id="main" data-state="concluded"><h1>Concluded</h1></main>';
    await page.route(
      (url) => url.pathname === pathname,
      (route) => route.fulfill({ contentType: 'text/html', body }),
    );
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.getByRole('heading', { name: 'You have signed already' }).waitFor();
  },
);

const FIELDS = ['City', 'Street'].map((label) => ({
  id: label,
  name: label.toLowerCase(),
  label,
  type: 'Text' as const,
  isRequired: false,
  formField: null,
  maxLength: 100,
  minimum: null,
  maximum: null,
  format: null,
  options: [],
  place: null,
}));

test.serial('a visit that has ended elsewhere says how, and leads on', async (t) => {
  const fields = [...FIELDS];
  const site = await startPagesServer(t, { action: { fields } });
  const visited = await visit(t, site.url, PHONE);
  const { page } = visited;
  const back = () => page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  const address = `${site.url}${site.signPath}`;
  await page.goto(address);
  await page.locator('.page[data-drawn]').first().waitFor();
  await page.getByLabel('City').fill('Lisbon');
  // A captive portal answers in place of the service.
  await page.route(address, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Wi-Fi</title><p>Welcome' }),
  );
  // The page looks again each time: the visit is not over.
  for (let look = 1; look <= 2; look += 1) {
    const answered = page.waitForResponse(address);
    await back();
    await (await answered).finished();
  }
  t.is(await page.getByLabel('City').inputValue(), 'Lisbon');
  await page.unroute(address);
  // As the page is after its file was replaced by one with the fields in another order.
  fields.reverse();
  await page.route(address, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replace('"documentVersion":1', '"documentVersion":2');
    await route.fulfill({ response: answer, body });
  });
  await back();
  await page.getByRole('heading', { name: 'There is a newer version' }).and(page.locator(':focus')).waitFor();
  await assertAccessible(t, page, 'newer version');
  await page.getByRole('link', { name: 'Read the new version' }).tap();
  await page.locator('.page[data-drawn]').first().waitFor();
  t.deepEqual(
    [await page.getByLabel('City').inputValue(), await page.getByLabel('Street').inputValue()],
    ['Lisbon', ''],
  );
  await page.unroute(address);
  const [path = '', ticket = ''] = site.signPath.split('/sign?ticket=');
  const api = path.replace('/document/key/', '/api/documents/keys/');
  const signed = await fetch(`${site.url}${api}/electronic-signature`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ticket, typedName: 'Ana' }),
  });
  t.true(signed.ok);
  await back();
  await page.getByRole('heading', { name: 'You have signed already' }).and(page.locator(':focus')).waitFor();
  await assertAccessible(t, page, 'signed already');
  await page.getByRole('link', { name: 'Show what you signed' }).tap();
  await page.getByRole('heading', { name: 'You signed it. Thank you.', exact: true }).waitFor();
});

test.serial(
  'an action that is being done is neither left by Escape nor ended by an earlier state',
  async (t) => {
    const site = await startPagesServer(t, {
      action: { codes: [{ channel: 'Email', to: 'a***@example.test' }] },
    });
    const visited = await visit(t, site.url, PHONE);
    const { page } = visited;
    const address = `${site.url}${site.signPath}`;
    await page.goto(address);
    await openSigning(page);
    await page.getByText('The code was sent').waitFor();
    await page.locator('#email-code:focus').waitFor();
    await page.keyboard.type('000000');
    await page.getByText('The code is wrong').waitFor();
    await page.locator('.boxes i:nth-of-type(1)[data-now]').waitFor();
    const sign = page.getByRole('button', { name: 'Sign the document' });
    const action = '**/electronic-signature';
    const held = await holdFirst(page, action);
    // An input method composes digits of its own.
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Input.imeSetComposition', { text: '１３５', selectionStart: 3, selectionEnd: 3 });
    await devtools.send('Input.insertText', { text: '１３５７９０' });
    t.is(await page.getByLabel('Code from the e-mail').inputValue(), CODE);

    const request = await held.route;
    for (let press = 0; press < 2; press += 1) await page.keyboard.press('Escape');
    await request.abort();
    await page.getByRole('dialog').getByText('The service cannot be reached.').waitFor();
    await page.unroute(action);

    // The person comes back from the mail, signs, and the answer about the page comes before that of the action.
    const look = await holdFirst(page, address);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    const answered = await look.route;
    const sent = await holdFirst(page, action);
    await sign.tap();
    const signing = await sent.route;
    const signed = await signing.fetch();
    const [state] = await Promise.all([page.waitForResponse(address), answered.continue()]);
    await state.finished();
    await page.unroute(address);
    await signing.fulfill({ response: signed });
    await page.getByRole('heading', { name: 'You signed it. Thank you.', exact: true }).waitFor();
  },
);

test.serial('times are in the zone of the reader, and the deadline is whole on a phone', async (t) => {
  const site = await startPagesServer(t);
  const { page } = await visit(t, site.url, { ...PHONE, timezoneId: 'America/Lima' });
  await page.goto(`${site.url}${site.signPath}`);
  const line = page.locator('.top .from');
  await line.filter({ hasText: /^Until Jan 31, 2027, 6:59\sPM · From/ }).waitFor();
  const [time, whole] = await Promise.all([line.locator('time'), line].map((one) => one.boundingBox()));
  t.true((time?.x ?? 0) + (time?.width ?? 999) <= (whole?.x ?? 0) + (whole?.width ?? 0), 'it is cut');
  t.regex((await line.locator('time').getAttribute('title')) ?? '', /\(Lima\)$/);
  await page.goto(`${site.url}${site.signPath.replace(/ticket=.*/, 'ticket=state-canceled')}`);
  await page.getByText(/Marta Reis canceled it on November 24, 2026 at 7:00\sAM \(Lima\)/).waitFor();
  await assertAccessible(t, page, 'canceled');
});

test.serial('a tap on a field opens it on every page, also beside one that is open', async (t) => {
  const field = { isRequired: true, formField: null, maxLength: 100, format: null, options: [] };
  const range = { minimum: null, maximum: null };
  const at = (topLeftY: number, pageNumber = 1, width = 90) => {
    return { topLeftX: 20, topLeftY, width, height: 12, pageNumber };
  };
  const fields = [
    { ...field, ...range, id: 'a', name: 'city', label: 'City', type: 'Text', place: at(10) },
    { ...field, ...range, id: 'b', name: 'plan', label: 'Plan', type: 'Text', place: at(26) },
    {
      ...field,
      ...range,
      id: 'c',
      name: 'rules',
      label: 'I keep the rules',
      type: 'Checkbox',
      place: at(60, 1, 12),
    },
    { ...field, ...range, id: 'd', name: 'cellar', label: 'Cellar', type: 'Text', place: at(40, 3) },
    {
      ...field,
      ...range,
      id: 'e',
      name: 'passport',
      label: 'Passport',
      type: 'Attachment',
      place: at(80, 3),
    },
  ] as const;
  const site = await startPagesServer(t, { action: { fields } });
  const { page } = await visit(t, site.url, PHONE);
  await page.goto(`${site.url}${site.signPath}`);
  await page.getByRole('button', { name: 'Start', exact: true }).waitFor();
  const tap = async (index: number, below = 0) => {
    const place = page.locator(`.mark[data-field="${index}"]`);
    await place.scrollIntoViewIfNeeded();
    const box = await place.boundingBox();
    if (box === null) return t.fail('the field has no place');
    await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2 + below);
    return page.evaluate('document.activeElement.id');
  };
  for (const index of [0, 1, 2, 3]) t.is(await tap(index), `field-${index}`);
  // The text of the page, which takes the pointer, lies below an open field.
  await tap(0);
  t.is(
    await page.evaluate(
      `{ const { x, y, width, height } = document.activeElement.getBoundingClientRect(); document.elementFromPoint(x + width / 2, y + height / 2).id; }`,
    ),
    'field-0',
  );
  const chooser = page.waitForEvent('filechooser');
  await tap(4);
  t.is(await (await chooser).element().getAttribute('id'), 'field-4');

  const tick = page.locator('#field-2');
  t.true(await tick.isChecked());
  // A finger beside it means it too.
  await tap(2, 14);
  t.false(await tick.isChecked());
  const words = page.locator('.mark label', { hasText: 'I keep the rules' });
  t.true(await words.isVisible());
  const [box, text] = await Promise.all([tick, words].map((one) => one.boundingBox()));
  t.true((text?.x ?? 0) >= (box?.x ?? 0) + (box?.width ?? 0));
  await assertAccessible(t, page, 'words beside a check box');
});
