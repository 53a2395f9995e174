/**
 * Makes pictures of the pages and mails in each state, light and dark, on a desk and on a phone, and compares them with
 * earlier ones. README.md shows two of them: participant-signing and sender-organization, on a desk, light.
 *
 * node scripts/make-pictures.mjs <folder> [--against <folder or commit>] [--only <parts of names, separated by commas>]
 *   writes <folder>/<page>-<device>-<theme>.png; with --against it prints the pictures that differ, with the share of
 *   pixels, shows both side by side in <folder>/differences.html, and exits with 1 when one differs. The pictures of a
 *   commit are made in a clone of it. Needs chromium and the compiled tests (npm run build).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { samplePreview } from '../dist/actors/portal/mails/mail-preview.js';
import { LANGUAGES } from '../dist/contracts/portal/words.js';
import { NO_BRANDING } from '../dist/machines/portal/branding.js';
import { startProgram, until } from '../dist/test/actors/portal/service.js';
import { logIn, openSigning } from '../dist/test/browser/browser.js';
import { startPagesServer } from '../dist/test/browser/pages-server.js';
import { PortalProgram } from '../dist/test/browser/portal-program.js';
import { classicPdf, clausePdf, documentObjects, stream } from '../dist/test/crypto/pdf/build.js';
import { mailedLink, register } from '../dist/test/http/portal/accounts/users.js';
import { startServer } from '../dist/test/postgres/cluster.js';
import { Service, temporaryRoot } from '../dist/test/service/service.js';

const DEVICES = {
  desk: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};
const THEMES = ['light', 'dark'];
const STATES = [
  'waiting-for-turn done refused canceled expired concluded deleted observing processing ticket-expired replaced removed unknown',
].flatMap((names) => names.split(' '));

const { values, positionals } = parseArgs({
  options: { against: { type: 'string' }, only: { type: 'string', default: '' } },
  allowPositionals: true,
});
const [folder] = positionals;
if (folder === undefined) throw new Error('Name the folder of the pictures.');
mkdirSync(folder, { recursive: true });

/** Pages whose interesting part is below the first screen. */
const WHOLE = /^(administration-|sender-(document|bulk|template|review))/;

/** Ends of the servers, as tests call them. */
const ends = [];
const session = { teardown: (end) => ends.unshift(end), log: () => undefined };
const field = {
  isRequired: true,
  formField: null,
  maxLength: 100,
  format: null,
  minimum: null,
  maximum: null,
};
const at = (topLeftY, height = 22) => ({ topLeftX: 60, topLeftY, width: 200, height, pageNumber: 1 });
const action = {
  codes: [{ channel: 'Email', to: 'a***@example.test' }],
  initialsMode: 'Optional',
  marks: [{ ...at(600, 60), type: 'SignatureVisualRepresentation', fontSize: null }],
  fields: [
    { ...field, id: 'f1', name: 'city', type: 'Text', label: 'City of birth', options: [], place: at(120) },
    { ...field, id: 'f2', name: 'plan', type: 'Choice', label: 'Plan', options: ['Basic'], place: at(180) },
    { ...field, id: 'f3', name: 'agreed', type: 'Checkbox', label: 'I agree', options: [], place: at(240) },
  ],
};

/** Does something on a page before its picture. */
const DONE = {
  'administration-refused': async (page) => {
    await page.locator('#url').fill('no address');
    await page.locator('form[action$="/organization/webhooks"] button').click();
    await page.locator('.error').first().waitFor();
  },
  'sender-fields': async (page) => {
    await page.locator('.steps button').nth(2).click();
    await page.locator('.page canvas').first().waitFor();
  },
  'sender-document': (page) => page.locator('.shown-page:not(.skeleton)').first().waitFor(),
  'sender-people': (page) => page.locator('.steps button').nth(1).click(),
  'sender-review': (page) => page.locator('.steps button').nth(3).click(),
  'signer-next': async (page) => page.locator('#guide-next').click(),
  'signer-missing': async (page) => {
    for (let press = 0; press < 5; press += 1) await page.locator('#guide-next').press('Enter');
  },
  'signer-dialog': async (page) => {
    await openFilled(page);
    await page.locator('#look-preview:not([hidden])').waitFor();
    await page.keyboard.type('419');
  },
  'signer-draw': async (page) => {
    await openFilled(page);
    await page.locator('#tab-drawn').click();
  },
  'signer-certificate': async (page) => {
    await openFilled(page);
    await page.locator('#with-certificate').click();
  },
  'signer-menu': async (page) => page.locator('#more summary').click(),
  'signer-refusing': async (page) => page.locator('#refusing summary').click(),
};
async function openFilled(page) {
  await page.locator('.mark #field-0').fill('Lisbon');
  await page.locator('.mark #field-1').selectOption('Basic');
  await page.locator('.mark #field-2').check();
  await openSigning(page);
}
const MAILS =
  'pending expiring concluded refused canceled new-version flow-edited observing code pending-list sign-in'.split(
    ' ',
  );

const isWanted = (name) => values.only.split(',').some((part) => name.includes(part));
const pictured = [];
try {
  const signer = await startPagesServer(session, { action });
  const program = await PortalProgram.start(session);
  const service = await operatorService();
  const several = isWanted('operator-nodes') ? await nodes() : undefined;
  const pages = {
    signer: signer.url + signer.signPath,
    'signer-embedded': signer.url + signer.embedPath,
    ...Object.fromEntries(
      STATES.map((state) => [
        `state-${state}`,
        `${signer.url}${signer.signPath}`.replace(/ticket=[^&]*/, `ticket=state-${state}`),
      ]),
    ),
    ...Object.fromEntries(Object.keys(DONE).map((name) => [name, signer.url + signer.signPath])),
    home: `${program.url}/`,
    'sign-in': `${program.url}/sign-in`,
    check: `${program.url}/check`,
    'check-unknown': `${program.url}/check/ABCDEFGHIJ0123456789`,
    'not-found': `${program.url}/nothing`,
    ...Object.fromEntries(
      Object.entries(service.pages).map(([name, path]) => [`operator-${name}`, service.url + path]),
    ),
    ...(several && { 'operator-nodes': `${several.url}/runtime` }),
    ...Object.fromEntries(
      Object.entries(service.account).map(([name, path]) => [name, service.portal + path]),
    ),
  };
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
  try {
    const administrator = await signedIn(browser, service.link);
    for (const [device, options] of Object.entries(DEVICES))
      for (const theme of THEMES)
        for (const [name, address] of Object.entries(pages)) {
          if (!isWanted(name)) continue;
          const context = await browser.newContext({
            ...options,
            colorScheme: theme,
            locale: 'en-US',
            reducedMotion: 'reduce',
            ...(/^(administration|sender)-/.test(name) && { storageState: administrator }),
          });
          const page = await context.newPage();
          const { origin } = new URL(address);
          if (name.startsWith('operator-'))
            await logIn(page, origin, origin === service.url ? service.key : await several.key());
          await page.goto(address, { waitUntil: /^(operator|sender)-/.test(name) ? 'load' : 'networkidle' });
          if (name.startsWith('operator-'))
            await page.locator('main[data-refreshed], main:has(form[enctype], .part)').waitFor();
          if (/^sender-(fields|people|review)$/.test(name)) await page.locator('[data-ready]').waitFor();
          if ((await page.locator('#pages').count()) > 0)
            await page.locator('.page[data-drawn]').first().waitFor({ timeout: 20_000 });
          await DONE[name]?.(page);
          const file = `${name}-${device}-${theme}.png`;
          await page.screenshot({ path: join(folder, file), fullPage: WHOLE.test(name) });
          pictured.push(file);
          await context.close();
        }
    await picturesOfMails(browser);
    console.log(`${pictured.length} pictures in ${folder}`);
    if (values.against !== undefined) await compare(browser, earlierPictures(values.against));
  } finally {
    await browser.close();
  }
} finally {
  for (const end of ends) await end();
}

/** A receiver of webhooks. */
async function receiver() {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('thanks'));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.unshift(() => server.close());
  return `http://127.0.0.1:${server.address().port}/`;
}

/** A page that looks like an agreement. */
function agreement() {
  const lines = [
    [56, 24, 'Rental agreement'],
    [96, 12, 'between Ana Lima (tenant) and Blue House Ltd (landlord)'],
    [150, 14, '1. Property'],
    [174, 12, 'The landlord rents the flat in 12 Harbour Street, second floor, to the tenant.'],
    [222, 14, '2. Rent'],
    [246, 12, 'The rent is 900 a month. It is due on the first working day of the month.'],
    [294, 14, '3. Term'],
    [318, 12, 'The agreement starts on 1 January and ends when one party gives notice.'],
    [366, 14, '4. Signatures'],
    [390, 12, 'Both parties have read this agreement and sign it below.'],
  ];
  const texts = lines.map(([y, size, text]) => `BT /F1 ${size} Tf 60 ${842 - y} Td (${text}) Tj ET`);
  const objects = documentObjects({ pages: 1 });
  for (const [number, body] of objects)
    objects.set(
      number,
      body.includes('Tj ET')
        ? stream('', texts.join('\n'))
        : body.replace('/MediaBox [0 0 200 200]', '/MediaBox [0 0 595 842]'),
    );
  return classicPdf(objects);
}

/** Documents, drafts, templates, deliveries and keys of an organization; paths of its pages, by name. */
async function accountPages({ acme, administrator }) {
  const { items } = await administrator.get('/api/admin/organizations?q=Acme');
  const organization = `/api/admin/organizations/${items[0].id}`;
  await acme.post(`/api/organizations/${items[0].id}/webhooks`, { url: await receiver() });
  const file = { name: 'lease.pdf', content: clausePdf(3), type: 'application/pdf' };
  const people = ['Ana Lima', 'Bruno Reis'].map((name, index) => ({
    step: index + 1,
    allowElectronicSignature: true,
    user: { name, email: `${name.split(' ')[0].toLowerCase()}@example.org` },
  }));
  const document = await acme.create(people, {}, { ...file, name: 'Rental agreement 2027.pdf' });
  await acme.create(people.slice(1), {}, { ...file, name: 'Annex with the list of furniture.pdf' });
  const refused = await acme.create(people.slice(1), {}, { ...file, name: 'Refused.pdf' });
  await acme.send(`/api/documents/${refused}/refusal`, { reason: 'Never mind' });
  const upload = async () => {
    const { id, name, contentType } = await acme.upload(file);
    return { id, displayName: 'Lease', name, contentType };
  };
  const draft = await acme.post('/api/document-drafts', {
    name: 'Lease',
    document: { files: [await upload()], flowActions: people },
  });
  const template = await acme.post('/api/templates', {
    name: 'Lease',
    document: { files: [await upload()], flowActions: [{ title: 'Tenant', allowElectronicSignature: true }] },
  });
  const application = await administrator.post(`${organization}/applications`, { name: 'Shop' });
  for (const name of ['Website', 'Warehouse'])
    await administrator.post(`${organization}/applications/${application.id}/keys`, { name });
  await until(async () => {
    const { items: sent } = await acme.get(`/api/organizations/${items[0].id}/deliveries`);
    return sent.some(({ status }) => status === 'Delivered') ? true : undefined;
  });
  const { id: read, name, contentType } = await acme.upload({ ...file, content: agreement() });
  const [lease] = await acme.post('/api/documents', {
    files: [{ id: read, displayName: 'Rental agreement', name, contentType }],
    flowActions: people.map((person) => ({ ...person, prePositionedMarks: [at(470, 70)] })),
  });
  const { url } = await acme.post(`/api/documents/${lease.documentId}/action-url`, {
    emailAddress: 'ana@example.org',
  });
  const signing = new URL(url);
  const editor = `/account/documents/drafts/${draft.id}`;
  return {
    'administration-settings': '/organization',
    'administration-refused': '/organization',
    'administration-users': '/organization/users',
    'administration-branding': '/organization/branding',
    'administration-applications': '/organization/applications',
    'administration-keys': `/organization/applications/${application.id}`,
    'sender-organization': '/organization',
    'participant-signing': `${signing.pathname}${signing.search}`,
    'sender-list': '/account/documents',
    'sender-document': `/account/documents/${document}`,
    'sender-new': '/account/documents/new',
    'sender-people': editor,
    'sender-fields': editor,
    'sender-review': editor,
    'sender-templates': '/account/templates',
    'sender-template': `/account/templates/${template.id}`,
    'sender-bulk': `/account/templates/${template.id}/bulk`,
  };
}

/** Two nodes on a store of PostgreSQL; undefined where it is missing. */
async function nodes() {
  const cluster = await startServer().catch(() => undefined);
  if (cluster === undefined) return undefined;
  ends.unshift(() => cluster.remove());
  const root = await temporaryRoot(session);
  const start = (name) =>
    Service.startOne(session, {
      root,
      settings: {
        'Runtime:Store': 'postgres',
        'Runtime:Postgres:Url': cluster.url,
        'Runtime:NodeName': name,
        'Runtime:Shards': 1,
        'Dashboard:PollIntervalSeconds': 1,
      },
      env: { SEALWRIGHT_NODES_PREVIEW: '1' },
    });
  const one = await start('node-1');
  await start('node-2');
  return one;
}

/** A service with jobs in each state, and the pages of its operator. */
async function operatorService() {
  const portal = await startProgram(session);
  const { service: one } = portal;
  let id = '';
  for (const name of ['broken.pdf', 'invoice.txt', 'order.txt']) {
    ({ jobId: id } = await one.upload(name, 'this is no PDF'));
    await one.finished(id);
  }
  const failed = await one.json('/api/jobs?status=Failed');
  await one.fetch('/api/pipeline/pause', { method: 'POST' });
  await one.upload('waits.txt', 'hello');
  const paths = ['jobs', 'failures', 'input', 'validate', 'documents', 'mails', 'webhooks', 'actors'];
  paths.push('runtime', 'certificates', 'system');
  const pages = {
    overview: '/',
    job: `/jobs/${failed.items[0].id}`,
    actor: `/actors/job/${id}`,
    'jobs-empty': '/jobs?fileName=nothing',
    'job-missing': '/jobs/none',
    ...Object.fromEntries(paths.map((path) => [path, `/${path}`])),
  };
  await register(portal, 'ana@example.org', { administrator: true }, 'Ana Lima');
  await register(portal, 'sam@example.org', { operator: true }, 'Sam Reis');
  const account = await accountPages(portal);
  const link = await mailedLink(portal, 'ana@example.org');
  return { url: one.url, key: await one.key(), pages, portal: portal.url, account, link };
}

/** Cookies of an administrator who followed the mailed link. */
async function signedIn(browser, link) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('button').last().click();
  await page.locator('.account-main').waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Every mail in every language; a mail of an organization without logo and colours. */
async function picturesOfMails(browser) {
  for (const [device, options] of Object.entries(DEVICES))
    for (const theme of THEMES) {
      const context = await browser.newContext({ ...options, colorScheme: theme, javaScriptEnabled: false });
      const page = await context.newPage();
      for (const language of LANGUAGES)
        for (const about of MAILS) {
          const file = `mail-${about}-${language}-${device}-${theme}.png`;
          if (!isWanted(file)) continue;
          const organization = { name: 'Acme Lda', language, branding: NO_BRANDING };
          await page.setContent(samplePreview(about, organization).html);
          await page.screenshot({ path: join(folder, file), fullPage: true });
          pictured.push(file);
        }
      await context.close();
    }
}

/** The folder itself; for a commit, pictures that its own script makes in a clone. */
function earlierPictures(against) {
  if (existsSync(against)) return against;
  const made = resolve(folder, `earlier-${against.replaceAll(/[^\w.-]/g, '_')}`);
  const clone = mkdtempSync(join(tmpdir(), 'pictures-of-'));
  const run = (command, ...words) => execFileSync(command, words, { cwd: clone, stdio: ['ignore', 2, 2] });
  try {
    run('git', 'clone', '--quiet', join(import.meta.dirname, '..'), '.');
    run('git', 'checkout', '--quiet', '--detach', against);
    run('npm', 'ci', '--no-audit', '--no-fund', '--prefer-offline');
    run('node', 'scripts/make-pictures.mjs', made, '--only', values.only);
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
  return made;
}

/** Prints what differs from the earlier pictures, and writes a page with both. */
async function compare(browser, earlier) {
  const page = await browser.newPage();
  const sections = [];
  for (const file of pictured) {
    if (!existsSync(join(earlier, file))) {
      console.log(`${file}: new`);
      continue;
    }
    const urls = [earlier, folder].map(
      (from) => `data:image/png;base64,${readFileSync(join(from, file)).toString('base64')}`,
    );
    const share = await page.evaluate(async (both) => {
      const [one, other] = await Promise.all(
        both.map(async (url) => {
          const image = await createImageBitmap(await (await fetch(url)).blob());
          const canvas = new OffscreenCanvas(image.width, image.height);
          const context = canvas.getContext('2d');
          context.drawImage(image, 0, 0);
          return context.getImageData(0, 0, image.width, image.height);
        }),
      );
      if (one.width !== other.width || one.height !== other.height) return 1;
      const first = new Uint32Array(one.data.buffer);
      const second = new Uint32Array(other.data.buffer);
      return first.filter((pixel, index) => pixel !== second[index]).length / first.length;
    }, urls);
    if (share === 0) continue;
    process.exitCode = 1;
    const said = `${file}: ${(100 * share).toFixed(2)} % of the pixels differ`;
    console.log(said);
    const pictures = [join(relative(folder, earlier), file), file].map(
      (path) => `<img src="${path}" alt="">`,
    );
    sections.push(`<h2>${said}</h2>\n<p>${pictures.join('\n')}</p>\n`);
  }
  const style =
    'body { font-family: sans-serif } p { display: flex; gap: 1rem } img { width: 48%; object-fit: contain }';
  writeFileSync(
    join(folder, 'differences.html'),
    `<!doctype html><html lang="en"><title>Pictures that differ</title><style>${style}</style>\n<h1>${sections.length} of ${pictured.length} pictures differ (left: earlier)</h1>\n${sections.join('')}`,
  );
  await page.close();
}

function chromiumPath() {
  return process.env.CHROMIUM ?? execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
}
