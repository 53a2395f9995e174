/** Experiences of people who sign, and of sites that embed the page. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startRelay } from '../../actors/portal/mails/relay.ts';
import { SAMPLE, startProgram, until } from '../../actors/portal/service.ts';
import { freshFolder, run } from '../../commands/program.ts';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { violationsOf } from '../axe.ts';
import { openSigning } from '../browser.ts';
import { serveHost } from '../portal/embedding-host.ts';
import { PortalProgram } from '../portal-program.ts';
import { type Experience, type Stage, tabTo } from './stage.ts';

const ANA = { name: 'Ana Souza', email: 'ana@experiences.test' };
const SIGNER = { type: 'Signer', user: ANA, allowElectronicSignature: true };
const LINK = /https?:\/\/\S+\/sign\?ticket=[\w-]+/;

interface History {
  readonly items: readonly { readonly type: string }[];
}

/** A document with the link that its participant gets by mail. */
async function mailedLink(portal: PortalProgram, pages = 3) {
  const id = await portal.create(clausePdf(pages), [SIGNER]);
  const [link = ''] = await portal.mail(ANA.email, LINK);
  return { id, link };
}

const keyboard: Experience = {
  number: 4,
  title: 'A blind or keyboard-only person can sign',
  async run(stage) {
    const portal = await PortalProgram.start(stage);
    const { id, link } = await mailedLink(portal);
    for (const colorScheme of ['light', 'dark'] as const) {
      const look = await stage.page(portal.url, { colorScheme, viewport: { width: 320, height: 640 } });
      await look.goto(link);
      await look.locator('.page[data-drawn]').first().waitFor();
      const violations = await violationsOf(look);
      stage.expect(violations.length === 0, `${colorScheme}, 320 px: ${violations.join('; ')}`);
    }
    const page = await stage.page(portal.url);
    await stage.act('open the link of the mail', () => page.goto(link));
    await page.locator('#guide-next:enabled').waitFor();
    for (let number = 1; number <= 3; number += 1) {
      const sheet = page.locator(`.page[data-page="${number}"]`);
      await sheet.scrollIntoViewIfNeeded();
      await sheet.and(page.locator('[data-drawn]')).waitFor();
      const text = await sheet.ariaSnapshot();
      stage.expect(/clause/i.test(text), `a screen reader is not read page ${number}: ${text.slice(0, 80)}`);
    }
    await stage.act('Tab to the button of the guide', () => tabTo(page, '#guide-next'));
    for (let press = 0; press < 5 && !(await page.locator('#signing[open]').isVisible()); press += 1)
      await stage.act('Enter', () => page.keyboard.press('Enter'));
    await page.locator('#signing[open]').waitFor();
    const [, code = ''] = await portal.mail(ANA.email, /^ *(\d{6})$/m);
    await stage.act('Tab to the code', () => tabTo(page, '#email-code'));
    await stage.act('type the code of the mail, which signs', () => page.keyboard.type(code));
    // The service may have concluded the document by then.
    await page.locator('main[data-state="done"], main[data-state="concluded"]').waitFor();
    await portal.reached(id, 'Concluded');
  },
};

/** Bytes of scripts that a first page may need, and when it has to be there, milliseconds. */
const PHONE_LIMITS = { scripts: 450_000, enabled: 2_000, seen: 4_000 };

/** Resolves when the picture of the first page, or the page itself, is there. */
const FIRST_SEEN = `Promise.any([
  document.querySelector('img.sheet-of')?.decode() ?? Promise.reject(new Error('no picture')),
  new Promise((resolve) => {
    const look = () => (document.querySelector('.page[data-drawn]') === null ? setTimeout(look, 20) : resolve());
    look();
  }),
]).then(() => undefined)`;

/** Turns the phone while a finger draws: the strokes stay. */
async function turnWhileDrawing(stage: Stage, page: Page): Promise<void> {
  await stage.act('choose to draw', () => page.getByRole('tab', { name: 'Draw' }).click());
  const area = page.getByRole('img', { name: 'Drawing area' });
  const ink = `(() => {
    const { width, height } = document.querySelector('#drawing-area');
    const { data } = document.querySelector('#drawing-area').getContext('2d').getImageData(0, 0, width, height);
    return data.some((value) => value > 0);
  })()`;
  await stage.act('draw, and turn the phone meanwhile', async () => {
    await area.scrollIntoViewIfNeeded();
    const box = await area.boundingBox();
    if (box === null) throw new Error('There is no area to draw on.');
    await page.mouse.move(box.x + 20, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + 80, box.y + 60, { steps: 3 });
    await page.setViewportSize({ width: 844, height: 390 });
    await page.mouse.move(box.x + 120, box.y + 40, { steps: 3 });
    await page.mouse.up();
  });
  stage.expect(await page.evaluate<boolean>(ink), 'the strokes are gone');
  await page.getByText('Your drawing will be shown.').waitFor();
}

const phone: Experience = {
  number: 5,
  title: 'Good on a bad phone',
  async run(stage) {
    const portal = await PortalProgram.start(stage);
    const { link } = await mailedLink(portal, 20);
    const warm = await stage.page(portal.url);
    await warm.goto(link);
    await warm.locator('.page[data-drawn]').first().waitFor();
    const page = await stage.page(portal.url, {
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 2,
      isMobile: true,
      hasTouch: true,
    });
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 150,
      downloadThroughput: 200_000,
      uploadThroughput: 94_000,
    });
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    const began = performance.now();
    const [enabled, seen] = await stage.act(
      'open the link on slow 4G, a processor four times slower',
      async () => {
        await page.goto(link, { waitUntil: 'commit' });
        const at = async (selector: string) => {
          await page.locator(selector).first().waitFor();
          return Math.round(performance.now() - began);
        };
        // A picture is in the page before it has come. The drawn page takes its place where that is faster.
        const decoded = async () => {
          await page.evaluate(FIRST_SEEN);
          return Math.round(performance.now() - began);
        };
        return Promise.all([at('#guide-next:enabled'), at('img.sheet-of, .page[data-drawn]').then(decoded)]);
      },
    );
    await page.locator('.page[data-drawn]').first().waitFor();
    const scripts = await page.evaluate<number>(
      `performance.getEntriesByType('resource').filter(({ name }) => /\\.m?js(\\?|$)/.test(name)).reduce((sum, one) => sum + one.encodedBodySize, 0)`,
    );
    stage.note(`button after ${enabled} ms, first page after ${seen} ms, scripts ${scripts} bytes`);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await openSigning(page);
    await stage.act('type a name', () => page.getByLabel('Your full name').fill('Ana Typed'));
    await stage.act('reload', () => page.reload());
    await openSigning(page);
    const kept = await page.getByLabel('Your full name').inputValue();
    stage.expect(kept === 'Ana Typed', `the reload forgot what was typed: ${kept}`);
    await turnWhileDrawing(stage, page);
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.act('enlarge the page with two fingers', () =>
      session.send('Emulation.setPageScaleFactor', { pageScaleFactor: 3 }),
    );
    const sharp = `Math.max(...[...document.querySelectorAll('.page canvas')].map(({ width, clientWidth }) => width / clientWidth))`;
    await until(async () => ((await page.evaluate<number>(sharp)) > 4 ? true : undefined));
    stage.expect(scripts <= PHONE_LIMITS.scripts, `scripts have ${scripts} bytes`);
    stage.expect(enabled <= PHONE_LIMITS.enabled, `the button works after ${enabled} ms`);
    stage.expect(seen <= PHONE_LIMITS.seen, `the first page is seen after ${seen} ms`);
  },
};

const HOST = (
  url: string,
) => `<!doctype html><title>Host</title><ol id="heard"></ol><div id="place" style="height:40rem"></div>
<script src="${url}/widget.js"></script>
<script>
const widget = new SealwrightWidget({ culture: 'en' });
for (const type of ['ready', 'documentSigned', 'error'])
  widget.on(type, (message) => {
    const item = document.createElement('li');
    item.textContent = JSON.stringify({ type, ...message });
    document.querySelector('#heard').append(item);
  });
widget.render(new URLSearchParams(location.search).get('url'), 'place');
</script>`;

const embedding: Experience = {
  number: 6,
  title: 'Embedding that is safe and boring',
  leftOut:
    'refusal, waiting, expired, canceled, new version: portal-embedding.test.ts, portal-states.test.ts',
  async run(stage) {
    const origins: string[] = [];
    const portal = await PortalProgram.start(stage, {
      'Portal:Organizations:0:Name': 'Ärzte & Söhne',
      'Portal:Organizations:0:EmbedOrigins:0': 'http://127.0.0.2:1',
    });
    const host = await serveHost(stage, HOST(portal.url));
    origins.push(host);
    const id = await portal.create(clausePdf(1), [SIGNER]);
    const { embedUrl } = await portal.actionUrl(id, ANA.email);
    const address = `${host}/?url=${encodeURIComponent(embedUrl)}`;
    const refused = await stage.page(portal.url, {}, origins);
    await stage.act('open the page on a site that is not listed', () => refused.goto(address));
    const frame = refused.frameLocator('iframe');
    await frame.getByRole('heading', { name: 'This page cannot be shown here' }).waitFor();
    const open = await PortalProgram.start(stage);
    const second = await serveHost(stage, HOST(open.url));
    const document = await open.create(clausePdf(1), [SIGNER]);
    const embedded = (await open.actionUrl(document, ANA.email)).embedUrl;
    const page = await stage.page(open.url, {}, [second]);
    for (const visitOfMany of ['open the page of the site', 'open the same address again']) {
      await stage.act(visitOfMany, () => page.goto(`${second}/?url=${encodeURIComponent(embedded)}`));
      await page.frameLocator('iframe').locator('#guide-next:enabled').waitFor();
    }
    const inner = page.frameLocator('iframe');
    await stage.act('press through to the dialog', () => openSigning(inner));
    await stage.act('sign', () => inner.getByRole('button', { name: 'Sign the document' }).click());
    const event = page.locator('#heard li', { hasText: 'documentSigned' }).first();
    await event.waitFor();
    const text = (await event.textContent()) ?? '';
    stage.expect(text.includes(document), `the event does not name the document: ${text}`);
    stage.expect((await page.context().cookies()).length === 0, 'the page sets a cookie');
  },
};

const scanners: Experience = {
  number: 7,
  title: 'Links survive scanners',
  async run(stage) {
    const portal = await PortalProgram.start(stage);
    const id = await portal.create(clausePdf(1), [
      SIGNER,
      { ...SIGNER, step: 2, user: { name: 'Bruno', email: 'bruno@experiences.test' } },
    ]);
    const [link = ''] = await portal.mail(ANA.email, LINK);
    await stage.act('50 requests of scanners', async () => {
      for (let request = 0; request < 50; request += 1)
        await fetch(link, { method: request % 2 === 0 ? 'GET' : 'HEAD' });
    });
    await stage.act('five whole loads', async () => {
      for (let load = 0; load < 5; load += 1) {
        const page = await stage.page(portal.url);
        await page.goto(link);
        await page.locator('.page[data-drawn]').first().waitFor();
      }
    });
    const { items } = await portal.call<History>('GET', `/api/documents/${id}/history`);
    const types = items.map(({ type }) => type);
    stage.expect(!types.includes('Opened') && !types.includes('Viewed'), `the history says ${types}`);
    const { flowActions } = await portal.document(id);
    const early = await fetch(`${portal.url}/api/documents/${id}/electronic-signature`, {
      method: 'POST',
      headers: { 'x-api-key': portal.key, 'content-type': 'application/json' },
      body: JSON.stringify({ flowActionId: flowActions[1]?.id }),
    });
    stage.expect(early.status === 422, `out of turn the API answers ${early.status}`);
    const page = await stage.page(portal.url);
    await stage.act('open the link', () => page.goto(link));
    await stage.act('go to the dialog', () => openSigning(page));
    const [, code = ''] = await portal.mail(ANA.email, /^ *(\d{6})$/m);
    await stage.act('type the code', () => page.locator('#email-code').pressSequentially(code));
    await page.getByRole('heading', { name: 'You signed it. Thank you.' }).waitFor();
  },
};

const evidence: Experience = {
  number: 13,
  title: 'Evidence that proves itself',
  leftOut: 'the QR code is read in renditions tests',
  async run(stage) {
    const relay = await startRelay(stage);
    const { acme, service } = await startProgram(stage, {
      settings: {
        'Portal:Smtp:Host': '127.0.0.1',
        'Portal:Smtp:Port': relay.port,
        'Portal:Smtp:From': 'a@b.test',
      },
    });
    const user = { name: 'Ärzte 中文 العربية', email: 'names@experiences.test' };
    const id = await acme.create([{ ...SIGNER, user }]);
    const { flowActions, key } = await acme.get<{ key: string; flowActions: { id: string }[] }>(
      `/api/documents/${id}`,
    );
    await stage.act('sign through the API', () =>
      acme.post(`/api/documents/${id}/electronic-signature`, { flowActionId: flowActions[0]?.id }),
    );
    await until(async () => {
      const { status } = await acme.get<{ status: string }>(`/api/documents/${id}`);
      return status === 'Concluded' ? true : undefined;
    });
    const page = await stage.page(service.portalUrl);
    await stage.act('open the check page, without a login', () =>
      page.goto(`${service.portalUrl}/check/${key}`),
    );
    await page.getByText('Ärzte 中文 العربية').first().waitFor();
    const folder = freshFolder();
    const file = async (name: string, type: string) => {
      const { bytes } = await acme.get<{ bytes: string }>(`/api/documents/${id}/content-b64?type=${type}`);
      const content = Buffer.from(bytes, 'base64');
      writeFileSync(join(folder, name), content);
      return content;
    };
    const signed = await file('signed.pdf', 'Signatures');
    await file('manifest.pdf', 'SignaturesManifest');
    const trust = ['--trust', join(service.root, 'keys', 'development-ca.pem')];
    const good = await stage.act('verify the file', () => run(folder, ['verify', 'signed.pdf', ...trust]));
    stage.expect(good.code === 0, `verify says ${good.out}${good.err}`);
    const at = signed.indexOf(SAMPLE.content.subarray(0, 8)) + 20;
    signed[at] = (signed[at] ?? 0) ^ 1;
    writeFileSync(join(folder, 'signed.pdf'), signed);
    const bad = await stage.act('change one byte, verify again', () =>
      run(folder, ['verify', 'signed.pdf', ...trust]),
    );
    stage.expect(bad.code !== 0, 'a changed byte is not found');
    await service.stop();
    const words = [`--Storage:Root=${service.root}`];
    const history = await stage.act('verify the history', () => run(folder, ['verify-history', ...words]));
    stage.expect(history.code === 0, `verify-history says ${history.out}${history.err}`);
  },
};

export const OF_SIGNERS: readonly Experience[] = [keyboard, phone, embedding, scanners, evidence];
