import test from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { closeBrowser, visit } from './browser.ts';
import { CODE, clausePdf, startPagesServer } from './pages-server.ts';

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

const ALONE = [{ name: 'Ana', type: 'Signer', step: 1, status: 'Pending', isYou: true }] as const;

test.serial('messages on a phone appear near the focused element, with one primary button', async (t) => {
  const site = await startPagesServer(t, { action: { needsEmailCode: true }, participants: ALONE });
  const visited = await visit(t, site.url, PHONE);
  if (visited === undefined) return;
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
  const sign = page.getByRole('button', { name: 'Sign the document' });
  await page.getByLabel('Code from the e-mail').fill('000000');
  t.deepEqual(await primaryButtons(page), ['Sign the document']);
  await sign.tap();
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
  await sign.tap();
  await seen(/You signed the document/);
  await page.getByRole('heading', { name: 'Done', exact: true }).waitFor();
  const text = (await page.locator('main').textContent()) ?? '';
  t.notRegex(text, /[Oo]thers|everybody/);
});

test.serial(
  'a single participant gets no text about others, and a single page no page navigation',
  async (t) => {
    const site = await startPagesServer(t, { file: clausePdf(1), participants: ALONE });
    const visited = await visit(t, site.url, PHONE);
    if (visited === undefined) return;
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
  if (visited === undefined) return;
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
