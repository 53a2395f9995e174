import { readFileSync } from 'node:fs';
import ava, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { clausePdf } from '../crypto/pdf/build.ts';
import { withTools } from '../verifiers/tool.ts';
import { assertAccessible } from './axe.ts';
import { closeBrowser, openSigning, visit } from './browser.ts';
import { type PagesServer, startPagesServer } from './pages-server.ts';
import { openHost, serveHost } from './portal/embedding-host.ts';

const test = withTools(ava, 'chromium');

test.after.always(() => closeBrowser());

test.serial(
  'the widget shows the page of another origin, without cookies, and receives the event of the signature',
  async (t) => {
    const site = await startPagesServer(t);
    const host = await openHost(
      t,
      site,
      `
    const widget = new SealwrightWidget({ culture: 'en', refusal: true });
    widget.on('documentSigned', (message) => note(message));
    document.querySelector('#place').style.height = '34rem';
    widget.render(embedUrl, 'place', 2, '50');`,
    );
    const page = await open(t, site, host);
    const frame = page.frameLocator('#place iframe');
    t.is(
      await page.locator('#place iframe').getAttribute('allow'),
      'geolocation; camera; fullscreen; publickey-credentials-get; publickey-credentials-create',
    );
    t.is(await page.locator('#place iframe').getAttribute('title'), 'Document to sign');
    t.is(
      await page.locator('#place iframe').getAttribute('src'),
      `${site.url}${site.embedPath}&page=2&scale=50&refusal=true&culture=en`,
    );
    await frame.locator('.page[data-page="2"][data-drawn]').waitFor();
    await frame.getByText('Refuse', { exact: true }).waitFor();
    t.is((await page.locator('#place iframe').boundingBox())?.height, 544, 'what follows is covered');
    await openSigning(frame);
    await frame.getByRole('button', { name: 'Sign the document' }).click();
    await frame.getByText('You signed the document.').waitFor();
    await page.locator('#heard li').first().waitFor();
    t.deepEqual(await heard(page), [{ type: 'documentSigned', id: site.documentId }]);
    t.is(site.done[0]?.given['disableNotifications'], true);
    await frame.locator('main[data-state] #page-count', { hasText: '/ 3' }).waitFor();
    t.is(await page.frames()[1]?.evaluate('scrollY'), 0, 'the end of the visit is not on the screen');
    t.deepEqual(await page.context().cookies(), []);
  },
);

test.serial(
  'a plain frame receives approval and refusal as JSON text, with preview hidden and events requested',
  async (t) => {
    const listen = `addEventListener('message', ({ data, origin }) => {
      if (typeof data !== 'string') throw new Error('not a text');
      note({ ...JSON.parse(data), origin });
    });
    const frame = document.createElement('iframe');
    frame.src = embedUrl + '&preview=true&refusal=true&notify=true&culture=en&theme=dark';
    document.querySelector('#place').append(frame);`;
    const approver = await startPagesServer(t, { action: { type: 'Approver' } });
    const page = await open(t, approver, await openHost(t, approver, listen));
    const frame = page.frameLocator('iframe');
    await openSigning(frame);
    await frame.getByRole('button', { name: 'Approve the document' }).click();
    await page.locator('#heard li').first().waitFor();
    t.is(await frame.locator('#document').count(), 0);
    t.is(await frame.locator('html').getAttribute('data-theme'), 'dark');
    t.deepEqual(await heard(page), [
      { type: 'documentApproved', id: approver.documentId, origin: approver.url },
    ]);

    const signer = await startPagesServer(t);
    const other = await open(t, signer, await openHost(t, signer, listen));
    const inner = other?.frameLocator('iframe');
    await inner?.getByText('Refuse', { exact: true }).click();
    await inner?.getByLabel('Why do you refuse?').fill('No.');
    await inner?.getByRole('button', { name: 'Refuse the document' }).click();
    await other?.locator('#heard li').first().waitFor();
    t.deepEqual(other && (await heard(other)), [
      { type: 'documentRefused', id: signer.documentId, origin: signer.url },
    ]);
  },
);

test.serial('the custom element shows the page and turns messages into events', async (t) => {
  const site = await startPagesServer(t);
  const host = await openHost(
    t,
    site,
    `
    const signing = document.createElement('sealwright-signing');
    signing.setAttribute('src', embedUrl);
    signing.setAttribute('culture', 'pt');
    signing.setAttribute('notify', '');
    document.querySelector('#place').append(signing);
    const named = document.createElement('sealwright-signing');
    named.setAttribute('src', embedUrl);
    named.setAttribute('frame-title', 'Contract 17');
    document.body.append(named);
    document.addEventListener('documentSigned', ({ detail }) => note(detail));`,
  );
  const page = await open(t, site, host);
  t.is(await page.locator('iframe').count(), 2);
  t.is(await page.locator('#place iframe').getAttribute('title'), 'Documento para assinar');
  t.is(await page.locator('body > sealwright-signing iframe').getAttribute('title'), 'Contract 17');
  const frame = page.frameLocator('#place iframe');
  await openSigning(frame);
  await frame.getByRole('button', { name: 'Assinar o documento' }).click();
  await page.locator('#heard li').first().waitFor();
  t.like((await heard(page))[0], { type: 'documentSigned' });
  t.is(site.done[0]?.given['disableNotifications'], false);
});

test.serial('no unlisted origin can frame the document or receive its events', async (t) => {
  const origins: string[] = [];
  const site = await startPagesServer(t, { embedOrigins: origins });
  const script = `addEventListener('message', ({ data }) => note(JSON.parse(data)));
    const frame = document.createElement('iframe');
    frame.src = embedUrl + '&preview=true&culture=en';
    document.querySelector('#place').append(frame);`;
  const known = await openHost(t, site, script);
  const unlisted = await openHost(t, site, script);
  origins.push(known);
  const answer = await fetch(`${site.url}${site.embedPath}`);
  t.regex(answer.headers.get('content-security-policy') ?? '', new RegExp(`frame-ancestors ${known}$`));
  t.is(answer.headers.get('x-frame-options'), null);

  const welcome = await open(t, site, known);
  await openSigning(welcome.frameLocator('iframe'));
  await welcome.frameLocator('iframe').getByRole('button', { name: 'Sign the document' }).click();
  await welcome.locator('#heard li').first().waitFor();
  const types = async () => (await heard(welcome)).map((message) => (message as { type: string }).type);
  t.true((await types()).includes('ready'));

  const policy = await fetch(`${site.url}${site.signPath}`);
  t.regex(policy.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'$/);
  t.is(policy.headers.get('x-frame-options'), 'DENY');
  const refused = await visit(t, site.url, {}, { alsoAsks: [unlisted], refusedFrames: true });
  await refused?.page.goto(unlisted);
  const blocked = refused?.page.frames().find((frame) => frame.parentFrame() !== null);
  await blocked?.getByRole('heading', { name: 'This page cannot be shown here' }).waitFor();
  t.is(await blocked?.locator('form').count(), 0);
  t.false((await blocked?.content())?.includes('Rental agreement'));
  if (blocked !== undefined) await assertAccessible(t, blocked, 'refused frame');
  // Without the name of the parent, the browser refuses the frame by the policy.
  const [event] = refused === undefined ? [] : await heard(refused.page);
  t.deepEqual(event, { type: 'error', code: 'FrameRefused' });
});

test.serial('listed origins receive each event, and the frame takes the height of its content', async (t) => {
  const origins: string[] = [];
  const site = await startPagesServer(t, {
    embedOrigins: origins,
    action: { codes: [{ channel: 'Email', to: 'a***@example.test' }] },
  });
  const script = `const widget = new SealwrightWidget({ culture: 'en', autoHeight: true, refusal: true });
    for (const type of ['ready', 'viewed', 'waiting', 'signed', 'refused', 'expired', 'error', 'closed', 'documentSigned'])
      widget.on(type, note);
    widget.render(new URLSearchParams(location.search).get('url') ?? embedUrl, 'place');`;
  const host = await openHost(t, site, script);
  origins.push(host);
  const page = await open(t, site, host);
  const frame = page.frameLocator('iframe');
  await openSigning(frame);
  await frame.getByRole('button', { name: 'Sign the document' }).and(frame.locator(':enabled')).waitFor();
  const types = async () => (await heard(page)).map((message) => (message as { type: string }).type);
  const hear = (type: string) =>
    page
      .locator('#heard li')
      .filter({ hasText: `"type":"${type}"` })
      .waitFor();
  await hear('ready');
  // All pages fit into the frame, so all of them are seen.
  const height = () => page.evaluate<number>(`document.querySelector('iframe').clientHeight`);
  await page.evaluate(`new Promise((resolve) => {
    const look = () => document.querySelector('iframe').clientHeight > 1500 ? resolve() : requestAnimationFrame(look);
    look();
  })`);
  t.true((await height()) > 1500);
  const next = await frame.locator('#guide-next').boundingBox();
  t.true(next !== null && next.y < 720, 'the button is far below in a tall frame');
  for (let turn = 1; turn <= 3; turn += 1)
    await frame.locator(`.page[data-page="${turn}"]`).scrollIntoViewIfNeeded();
  await hear('viewed');
  // By keyboard: the dialog may be beyond the part of this tall frame that the window shows.
  await frame.getByLabel('Code from the e-mail').fill('000000');
  await hear('error');
  await frame.getByLabel('Code from the e-mail').fill('135790');
  await hear('closed');
  t.deepEqual(await types(), ['ready', 'viewed', 'error', 'documentSigned', 'signed', 'closed']);
  t.like((await heard(page))[2], { id: site.documentId, code: 'InvalidAuthenticationCode' });

  for (const [state, events] of [
    ['waiting-for-turn', ['waiting']],
    ['expired', ['expired']],
    ['refused', ['refused', 'closed']],
    ['canceled', ['closed']],
  ] as const) {
    const url = `${site.url}/document/key/ABCDEFGHIJ0123456789/sign-embedded?ticket=state-${state}`;
    await page.goto(`${host}/?url=${encodeURIComponent(url)}`);
    await hear(events.at(-1) ?? '');
    t.deepEqual(await types(), events, state);
  }
});

test.serial('the documented example signs, and reports it', async (t) => {
  const site = await startPagesServer(t);
  const example = readFileSync('docs/examples/embedding.html', 'utf8');
  t.true(example.includes('http://127.0.0.1:8090/widget.js'));
  const host = await serveHost(t, example.replace('http://127.0.0.1:8090', site.url));
  const url = `${site.url}${site.embedPath}`;
  const page = await open(t, site, `${host}/#${encodeURIComponent(url)}`, host);
  await assertAccessible(t, page, 'example');
  await openSigning(page.frameLocator('#signing iframe'));
  await page.frameLocator('#signing iframe').getByRole('button', { name: 'Sign the document' }).click();
  await page.getByText('Thank you. You signed the contract.').waitFor();
});

test.serial('marks are placed by mouse and by keyboard, and sent to the embedding page', async (t) => {
  const data = {
    files: [{ id: 'upload-1', name: 'agreement.pdf', contentType: 'application/pdf' }],
    flowActions: [
      { type: 'Signer', user: { name: 'Ana' } },
      { type: 'Signer', user: { name: 'Bruno' } },
    ],
    isEnvelope: false,
  };
  const site = await startPagesServer(t, { marks: { data, file: clausePdf(3) } });
  const host = await openHost(
    t,
    site,
    `
    const widget = new SealwrightWidget({ culture: 'en' });
    widget.on('marksPositioned', (message) => note(message));
    widget.render(new URL(embedUrl).origin + '/position-marks/session?v=1', 'place');`,
  );
  const page = await open(t, site, host);
  t.is(await page.locator('iframe').getAttribute('title'), 'Places for signatures');
  const frame = page.frameLocator('iframe');
  await frame.locator('#pages[data-shown]').waitFor();
  await frame.getByRole('button', { name: 'Add signature' }).click();
  const first = frame.getByRole('button', { name: 'Signature of Ana' });
  await first.hover();
  const before = await first.boundingBox();
  if (before === null) return t.fail('the mark is not there');
  await page.mouse.move(before.x + 20, before.y + 20);
  await page.mouse.down();
  await page.mouse.move(before.x - 30, before.y - 80, { steps: 4 });
  await page.mouse.up();
  await frame.getByText(/^Signature of Ana: page 1,/).waitFor();

  await frame.getByLabel('Person').selectOption('Bruno');
  await frame.getByRole('button', { name: 'Add initials' }).click();
  await frame.getByRole('button', { name: 'Initials of Bruno' }).waitFor();
  for (const key of ['PageDown', 'ArrowRight', 'ArrowDown', 'Shift+ArrowRight'])
    await page.keyboard.press(key);
  await frame.getByText(/^Initials of Bruno: page 2,/).waitFor();
  await frame.getByRole('button', { name: 'Add signature' }).click();
  await frame.getByRole('button', { name: 'Signature of Bruno' }).waitFor();
  await page.keyboard.press('Delete');
  await frame.getByText('Signature of Bruno was removed.').waitFor();
  const inside = page.frames().find((candidate) => candidate.url().includes('position-marks'));
  if (inside !== undefined) await assertAccessible(t, inside, 'marks');
  await frame.getByRole('button', { name: 'Finish' }).click();
  await page.locator('#heard li').first().waitFor();
  const [message] = (await heard(page)) as [
    { readonly data: typeof data & { flowActions: { prePositionedMarks: object[] }[] } },
  ];
  const [ana, bruno] = message.data.flowActions;
  t.is(message.data.isEnvelope, false);
  t.like(ana?.prePositionedMarks[0], {
    type: 'SignatureVisualRepresentation',
    uploadId: 'upload-1',
    pageNumber: 1,
    width: 170,
  });
  t.is(ana?.prePositionedMarks.length, 1);
  t.like(bruno?.prePositionedMarks[0], {
    type: 'SignatureInitials',
    pageNumber: 2,
    topLeftX: (595 - 60) / 2 + 4,
    topLeftY: (842 - 28) / 2 + 4,
    width: 64,
  });
  t.is(bruno?.prePositionedMarks.length, 1);
  const over = await fetch(`${site.url}/position-marks/other?v=1`);
  t.is(over.status, 404);
  t.true((await over.text()).includes('This session is over'));
});

/** @param origin of the page, where `host` is more than that */
async function open(t: ExecutionContext, site: PagesServer, host: string, origin = host): Promise<Page> {
  const visited = await visit(
    t,
    site.url,
    { locale: 'en-US', reducedMotion: 'reduce' },
    { alsoAsks: [origin] },
  );
  await visited?.page.goto(host);
  return visited?.page;
}

async function heard(page: Page): Promise<readonly unknown[]> {
  return (await page.locator('#heard li').allTextContents()).map((text) => JSON.parse(text) as unknown);
}
