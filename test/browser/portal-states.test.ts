import test from 'ava';
import type { SigningPageView } from '../../actors/portal/api.ts';
import type { ValidationRecord } from '../../contracts/portal/signing/validation.ts';
import type { DocumentId } from '../../machines/ids.ts';
import { withTools } from '../verifiers/tool.ts';
import { assertAccessible } from './axe.ts';
import { closeBrowser, visit } from './browser.ts';
import { CHECKED_TEXTS, KEY, startPagesServer } from './pages-server.ts';

const toolTest = withTools(test, 'chromium');

test.after.always(() => closeBrowser());

const STATES: readonly {
  readonly state: SigningPageView['state'];
  readonly title: string;
  readonly status?: number;
}[] = [
  { state: 'waiting-for-turn', title: 'Not your turn yet' },
  { state: 'done', title: 'You signed it. Thank you.' },
  { state: 'refused', title: 'The document was refused' },
  { state: 'canceled', title: 'The document was canceled' },
  { state: 'expired', title: 'The time to sign has ended' },
  { state: 'concluded', title: 'The document is complete' },
  { state: 'deleted', title: 'The document was deleted' },
  { state: 'processing', title: 'Being finished' },
  { state: 'ticket-expired', title: 'This link has expired' },
  { state: 'replaced', title: 'Somebody else acts in your place' },
  { state: 'removed', title: 'You are no longer asked' },
  { state: 'unknown', title: 'This link is incomplete', status: 404 },
];

toolTest.serial('every state of a document has its own page, with possible actions only', async (t) => {
  const site = await startPagesServer(t);
  const visited = await visit(t, site.url, { locale: 'en-US' });
  const { page } = visited;
  for (const { state, title, status = 200 } of STATES) {
    const answer = await page.goto(`${site.url}/document/key/${KEY}/sign?ticket=state-${state}`);
    t.is(answer?.status(), status, state);
    await page.getByRole('heading', { name: title, exact: true }).waitFor();
    const hasForm = state === 'ticket-expired' || state === 'unknown';
    t.is(await page.locator('form').count(), hasForm ? 1 : 0, state);
    const showsFile = state === 'done' || state === 'concluded';
    const hasTimes = ['refused', 'canceled', 'expired'].includes(state);
    const scripts = await page.locator('script:not([type="application/json"])').count();
    t.is(scripts > 0, showsFile || hasTimes, state);
    if (showsFile) await page.locator('.page[data-drawn]').first().waitFor();
    const reasoned = state === 'refused' || state === 'canceled';
    const said = page.getByText(
      /Marta Reis (refused|canceled) it on November 24, 2026 at \d+:00\s[AP]M \(.+\): “.?Wrong <i>file<\/i>.?”/,
    );
    t.is(await said.count(), reasoned ? 1 : 0, state);
    // Nobody acts on a document that is over.
    const isOver = ['refused', 'canceled', 'expired'].includes(state);
    const later = page.getByText('approves later');
    t.is(await later.count(), isOver || state === 'unknown' || state === 'ticket-expired' ? 0 : 1, state);
    // Whom to ask, where the document ended without the participant.
    const hasEnded = reasoned || ['expired', 'replaced', 'removed', 'deleted'].includes(state);
    t.is(await page.getByText('If you have a question, ask Ärzte & Söhne.').count(), hasEnded ? 1 : 0, state);
    await assertAccessible(t, page, state);
  }
});

toolTest.serial(
  'a canceled document offers to write to its sender, and the bar names the person',
  async (t) => {
    const document = { senderName: 'Marta Reis' };
    const site = await startPagesServer(t, { document, replyTo: 'office+1@example.test' });
    const visited = await visit(t, site.url, { locale: 'en-US' });
    const { page } = visited;
    await page.goto(`${site.url}/document/key/${KEY}/sign?ticket=state-canceled`);
    const write = page.getByRole('link', { name: 'Write to Marta Reis' });
    t.regex(
      (await write.getAttribute('href')) ?? '',
      /^mailto:office%2B1@example\.test\?subject=Rental%20agreement/,
    );
    await assertAccessible(t, page, 'canceled');
    await page.goto(`${site.url}${site.signPath}`);
    t.regex((await page.locator('.top .from').textContent()) ?? '', /Marta Reis.*Ärzte & Söhne/u);
  },
);

for (const [locale, button, title] of [
  ['en-US', 'Send me a new link', 'Check your mailbox'],
  ['pt-BR', 'Enviar um novo link', 'Veja a sua caixa de entrada'],
  ['es-ES', 'Enviarme un enlace nuevo', 'Mire su buzón'],
  ['de-DE', 'Neuen Link senden', 'Sehen Sie in Ihrem Postfach nach'],
] as const) {
  toolTest.serial(
    `an expired link requests a new one when its button is pressed, not before (${locale})`,
    async (t) => {
      const site = await startPagesServer(t);
      const visited = await visit(t, site.url, {
        locale,
        viewport: { width: 320, height: 640 },
        colorScheme: 'dark',
      });
      const { page } = visited;
      await page.goto(`${site.url}/document/key/${KEY}/sign?ticket=state-ticket-expired`);
      t.deepEqual(site.done, []);
      t.false(
        (await page.locator('main').textContent())?.includes('@') ?? true,
        'the address is on the page',
      );
      await page.getByRole('button', { name: button }).press('Enter');
      await page.getByRole('heading', { name: title }).waitFor();
      t.deepEqual(
        site.done.map(({ what }) => what),
        ['new-link'],
      );
      t.false(
        (await page.locator('main').textContent())?.includes('@') ?? true,
        'the address is on the page',
      );
      await assertAccessible(t, page, 'new link');
      const other = await fetch(`${site.url}/document/key/${KEY}/new-link?ticket=another`, {
        method: 'POST',
      });
      t.is(other.status, 404);
    },
  );
}

toolTest.serial('an incomplete link asks for an address, and answers each alike', async (t) => {
  const site = await startPagesServer(t);
  const visited = await visit(t, site.url, { locale: 'en-US' });
  const { page } = visited;
  const answers: string[] = [];
  for (const [key, address] of [
    [KEY, 'ana@example.test'],
    ['UNKNOWNUNKNOWNUNKNOW', 'nobody@example.test'],
  ]) {
    await page.goto(`${site.url}/document/key/${key}/sign?ticket=cut`);
    await page.getByLabel('Your e-mail address').fill(address ?? '');
    await page.getByRole('button', { name: 'Send me a new link' }).press('Enter');
    await page.getByRole('heading', { name: 'Check your mailbox' }).waitFor();
    answers.push(await page.locator('main').innerHTML());
    await assertAccessible(t, page, 'link requested');
  }
  t.is(answers[0], answers[1]);
  t.deepEqual(site.done[0]?.given, { emailAddress: 'ana@example.test' });
});

test.serial(
  'a request for a new link that cannot be met is answered with a page that leads on',
  async (t) => {
    const site = await startPagesServer(t);
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${site.url}/document/key/${KEY}/${path}`, { ...init, headers: { accept: 'text/html' } });
    const unknown = await ask('new-link?ticket=another&culture=es', { method: 'POST' });
    t.is(unknown.status, 404);
    const page = await unknown.text();
    t.regex(page, /<form method="post" action="\/document\/key\/\w+\/link-request\?culture=es"/);
    t.regex(unknown.headers.get('content-security-policy') ?? '', /form-action 'self'/);
    // After a reload by its address.
    const again = await ask('new-link?ticket=another');
    t.is(again.status, 405);
    t.regex(again.headers.get('content-type') ?? '', /^text\/html/);

    const request = () =>
      ask('link-request', { method: 'POST', body: new URLSearchParams({ email: 'a@b.test' }) });
    const statuses = (await Promise.all(Array.from({ length: 11 }, request))).map(({ status }) => status);
    t.deepEqual(statuses.toSorted(), [...Array<number>(10).fill(200), 429]);
    t.is(site.done.length, 10);
    t.regex((await request()).headers.get('content-type') ?? '', /^text\/html/);
  },
);

toolTest.serial('links of a visit keep the language and the theme of the page', async (t) => {
  const visit = ['Lease', 'Annex'].map((name) => ({
    name,
    href: `/document/key/${KEY}/sign?ticket=${name}`,
    isDone: false,
    isThis: name === 'Lease',
  }));
  const site = await startPagesServer(t, { visit });
  const page = await (await fetch(`${site.url}${site.signPath}&culture=pt&theme=dark&page=2`)).text();
  for (const { href } of visit) t.true(page.includes(`href="${href}&amp;culture=pt&amp;theme=dark"`), href);
});

test.serial('a link opens with the punctuation that mail clients add to it', async (t) => {
  const site = await startPagesServer(t);
  for (const tail of ['.', ')', '%3E', '&utm_source=x'])
    t.is((await fetch(`${site.url}${site.signPath}${tail}`)).status, 200, tail);
  t.is((await fetch(`${site.url}${site.signPath}x`)).status, 404);
});

test.serial('pages of approvers do not speak of signing', async (t) => {
  const site = await startPagesServer(t, { action: { type: 'Approver' } });
  const text = async (path: string) => (await fetch(`${site.url}${path}`)).text();
  t.regex(await text(`/document/key/${KEY}/sign?ticket=state-expired`), /The time to approve has ended/);
  const page = await text(site.signPath);
  t.regex(page, /You have approved already/);
  t.notRegex(page, /You have signed already/);
});

toolTest.serial(
  'the public page with the key lists signers and versions, with addresses and numbers masked',
  async (t) => {
    const site = await startPagesServer(t, { record: RECORD });
    const visited = await visit(t, site.url, { locale: 'en-US' });
    const { page } = visited;
    await page.goto(`${site.url}/check`);
    await page.getByLabel('Validation key').fill('WRONG');
    await page.keyboard.press('Enter');
    await page.getByText('No document has this key.').waitFor();
    await page.getByLabel('Validation key').fill(KEY);
    await page.keyboard.press('Enter');
    await page.getByText('Not every signature is valid.').waitFor();
    await page.getByText('What was checked').first().click();
    await assertAccessible(t, page, 'check');
    const text = (await page.locator('main').textContent()) ?? '';
    t.true(text.includes('Ana <María>'));
    t.true(text.includes('a***@example.test'));
    t.false(text.includes('ana.souza@'));
    t.false(text.includes('12345678909'));
    t.true(text.includes('The certificate was revoked.'));
    t.true(text.includes('Certificate SHA-256000000'), 'hexadecimal, as those of files');
    t.false(text.includes('European trusted lists'), 'none are configured');
    const { original, signed } = CHECKED_TEXTS;
    for (const [content, verdict] of [
      [signed, 'This is the signed file.'],
      [original, 'This is the original file, without the signatures.'],
      [`${signed} `, /^This is another file\./],
    ] as const) {
      const file = { name: 'held.pdf', mimeType: 'application/pdf', buffer: Buffer.from(content) };
      await page.getByLabel('Your file').setInputFiles(file);
      await page.getByText(verdict).waitFor();
      t.is(await page.locator('[data-held]:visible').count(), 1, content);
    }
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await fetch(`${site.url}/check/${KEY}`)).status),
    );
    t.true(statuses.includes(429), 'keys can be tried without end');
  },
);

toolTest.serial(
  'an internal error is a page in the language of its reader, with a reference number',
  async (t) => {
    const site = await startPagesServer(t, { isBroken: true });
    const visited = await visit(t, site.url, { locale: 'pt-BR' });
    const { page } = visited;
    for (const path of [site.signPath, site.embedPath, `/check/${KEY}`]) {
      const answer = await page.goto(`${site.url}${path}`);
      t.is(answer?.status(), 500, path);
      await page.getByRole('heading', { name: 'Algo deu errado' }).waitFor();
      await page.getByText(/^Referência: \S+$/).waitFor();
      t.false((await page.content()).includes('out of order'), path);
      await assertAccessible(t, page, path);
    }
  },
);

const OK = { isValid: true, passedChecks: [], errors: [], warnings: [] };

const RECORD: ValidationRecord = {
  id: '00000000-0000-4000-8000-000000000001' as DocumentId,
  name: 'Rental agreement',
  filename: 'agreement.pdf',
  mimeType: 'application/pdf',
  isConcluded: true,
  status: 'Concluded',
  creationDate: Date.UTC(2026, 10, 1),
  updateDate: Date.UTC(2026, 10, 2),
  createdBy: { id: 'a', name: 'Leasing' },
  isEnvelope: false,
  isFile: false,
  type: null,
  signatureType: null,
  securityContext: null,
  signers: [
    {
      subjectName: 'Ana <María>',
      emailAddress: 'ana.souza@example.test',
      issuerName: 'Sealwright tests',
      identifier: '12345678909',
      companyName: null,
      companyIdentifier: null,
      isElectronic: true,
      isTimestamp: false,
      signingTime: Date.UTC(2026, 10, 2, 12),
      certificateThumbprint: 'AAAA',
      validityStart: Date.UTC(2026, 0, 1),
      validityEnd: Date.UTC(2027, 0, 1),
      signatureTimestamps: [],
      archiveTimestamps: [],
      validationResults: {
        ...OK,
        passedChecks: [
          {
            type: 'Integrity',
            message: 'The document is unchanged.',
            detail: null,
            innerValidationResults: null,
          },
        ],
      },
      attributeCertificates: [],
      qualification: null,
      evidences: null,
    },
    {
      subjectName: 'Bruno',
      emailAddress: null,
      issuerName: 'Sealwright tests',
      identifier: null,
      companyName: 'Example Ltda',
      companyIdentifier: null,
      isElectronic: false,
      isTimestamp: false,
      signingTime: null,
      certificateThumbprint: 'BBBB',
      validityStart: null,
      validityEnd: null,
      signatureTimestamps: [],
      archiveTimestamps: [],
      validationResults: {
        ...OK,
        isValid: false,
        errors: [
          {
            type: 'Chain',
            message: 'The certificate is not good.',
            detail: 'See below.',
            innerValidationResults: {
              ...OK,
              errors: [
                {
                  type: 'Revocation',
                  message: 'The certificate was revoked.',
                  detail: null,
                  innerValidationResults: null,
                },
              ],
            },
          },
        ],
      },
      attributeCertificates: [],
      qualification: null,
      evidences: null,
    },
  ],
};
