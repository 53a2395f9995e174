/** The whole program with people who sign, and as the remote portal of the batch service. */
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { clausePdf } from '../crypto/pdf/build.ts';
import { pki } from '../pki/pki.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { mutool, pdfsig } from '../verifiers/index.ts';
import { withTools } from '../verifiers/tool.ts';
import { PHONE } from './account/account-pages.ts';
import { assertAccessible } from './axe.ts';
import { OUT_OF_REACH, openSigning, visit } from './browser.ts';
import { certificateFile } from './certificate-files.ts';
import { PortalProgram, type SharedPortal, sharePortalProgram } from './portal-program.ts';

const test = withTools(anyTest as TestFn<SharedPortal>, 'chromium');
sharePortalProgram(test);

/** People with mailboxes of their own. */
function peopleOf(name: string) {
  const ANA = { name: 'Ana Souza', email: `ana@${name}.test` };
  const BRUNO = { name: 'Bruno Lima', email: `bruno@${name}.test` };
  const CARLA = { name: 'Carla Reis', email: `carla@${name}.test` };
  return { ANA, BRUNO, CARLA };
}

test.serial('a participant signs again automatically after another one has signed the file', async (t) => {
  const { portal } = t.context;
  const { ANA, BRUNO } = peopleOf('again');
  const visited = await visit(t, portal.url, { locale: 'en-US' });
  const { page } = visited;
  const id = await portal.create(clausePdf(1), [
    { type: 'Signer', user: BRUNO },
    { type: 'Signer', user: ANA, allowElectronicSignature: true },
  ]);
  const { flowActions } = await portal.document(id);
  let completions = 0;
  await page.route('**/signature', async (route) => {
    completions += 1;
    if (completions === 1)
      await portal.call('POST', `/api/documents/${id}/electronic-signature`, {
        flowActionId: flowActions[1]?.id,
      });
    await route.continue();
  });
  const file = certificateFile({ kind: 'p-256', password: 'open', name: BRUNO.name });
  await page.goto((await portal.actionUrl(id, BRUNO.email)).url);
  await openSigning(page);
  await page.getByLabel('Certificate file').setInputFiles(file.path);
  await page.getByLabel('Password of the file').fill('open');
  await page.getByRole('button', { name: 'Sign the document' }).click();
  await page.getByText('The document was signed with the certificate of Bruno Lima.').waitFor();
  t.is(completions, 2);
  await portal.reached(id, 'Concluded');
  const verdicts = await pdfsig(await portal.signedFile(id), pki());
  t.deepEqual(
    verdicts.map(({ signature }) => signature),
    ['Signature is Valid.', 'Signature is Valid.'],
  );
});

test.serial(
  'opening and reaching the end are recorded after a user action, and not at page load',
  async (t) => {
    const { portal } = t.context;
    const { ANA } = peopleOf('views');
    const visited = await visit(t, portal.url, { locale: 'en-US' });
    const { page } = visited;
    const id = await portal.create(clausePdf(4), [
      { type: 'Signer', user: ANA, allowElectronicSignature: true },
    ]);
    const recorded = async () => {
      const { items } = await portal.call<{
        items: readonly { type: string; by: string; userAgent: string }[];
      }>('GET', `/api/documents/${id}/history`);
      return items.filter(({ type }) => type === 'Opened' || type === 'Viewed');
    };
    const { url } = await portal.actionUrl(id, ANA.email);
    for (let load = 0; load < 3; load += 1) {
      await page.goto(url);
      await page.locator('.page[data-drawn]').first().waitFor();
      await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
      await page.locator('.page[data-page="4"][data-drawn]').waitFor();
    }
    t.deepEqual(await recorded(), []);
    const posted = (reachedEnd: boolean) =>
      page.waitForResponse(
        (answer) =>
          answer.url().endsWith('/view') && answer.request().postData()?.includes(`:${reachedEnd}`) === true,
      );
    await page.goto(url);
    await page.locator('.page[data-drawn]').first().waitFor();
    const opening = posted(false);
    const ending = posted(true);
    await page.keyboard.press('Tab');
    t.is((await opening).status(), 200);
    t.deepEqual(
      (await recorded()).map(({ type }) => type),
      ['Opened'],
    );
    await page.keyboard.press('End');
    t.is((await ending).status(), 200);
    const entries = await recorded();
    t.deepEqual(
      entries.map(({ type, by }) => [type, by]),
      [
        ['Opened', ANA.name],
        ['Viewed', ANA.name],
      ],
    );
    t.regex(entries[1]?.userAgent ?? '', /Chrome/);
  },
);

test.serial(
  'a flow of three people runs in the real program: mailed link, mailed code, certificate, approval',
  async (t) => {
    const { portal } = t.context;
    const { ANA, BRUNO, CARLA } = peopleOf('flow');
    const visited = await visit(t, portal.url, { locale: 'en-US' });
    const { page } = visited;
    const id = await portal.create(clausePdf(3), [
      { type: 'Signer', step: 1, user: ANA, allowElectronicSignature: true },
      { type: 'Signer', step: 2, user: BRUNO },
      { type: 'Approver', step: 3, user: CARLA },
    ]);

    // The mail links to the page; opening the link changes nothing.
    const [link = ''] = await portal.mail(ANA.email, /http:\/\/\S+\/document\/key\/\S+/);
    const before = JSON.stringify(await portal.document(id));
    for (let scan = 0; scan < 10; scan += 1) t.is((await fetch(link)).status, 200);
    await page.goto(link);
    await page.locator('.page[data-drawn]').first().waitFor();
    t.is(JSON.stringify(await portal.document(id)), before, 'looking at the page has changed something');
    await openSigning(page);
    await page.getByText('The code was sent').waitFor();
    const [, code = ''] = await portal.mail(ANA.email, /\b(\d{6})\b/);
    await page.getByLabel('Code from the e-mail').fill(code);
    await page.getByText('You signed the document.').waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'You signed it. Thank you.', exact: true }).waitFor();

    const file = certificateFile({ kind: 'p-256', password: 'open', name: BRUNO.name });
    await page.goto((await portal.actionUrl(id, BRUNO.email)).url);
    await openSigning(page);
    await page.getByLabel('Certificate file').setInputFiles(file.path);
    await page.getByLabel('Password of the file').fill('open');
    await page.getByRole('button', { name: 'Sign the document' }).click();
    await page.getByText('The document was signed with the certificate of Bruno Lima.').waitFor();

    const { url } = await portal.actionUrl(id, CARLA.email);
    await page.goto(url);
    await openSigning(page);
    await page.getByRole('button', { name: 'Approve the document' }).click();
    await page.getByText('You approved the document.').waitFor();

    const { key } = await portal.reached(id, 'Concluded');
    const signed = await portal.signedFile(id);
    const verdicts = await pdfsig(signed, pki());
    t.deepEqual(
      verdicts.map(({ signature }) => signature),
      ['Signature is Valid.', 'Signature is Valid.'],
    );
    t.is(verdicts[1]?.certificate, 'Certificate is Trusted.');
    t.true(verdicts[1]?.coversWholeFile);
    t.is((await mutool(signed)).length, 2);

    await page.goto(`${portal.url}/check/${key}`);
    await page.getByRole('heading', { name: 'Rental agreement' }).waitFor();
    await page.getByRole('heading', { name: 'Bruno Lima' }).waitFor();
    await page.getByRole('heading', { name: 'Ana Souza' }).waitFor();
    t.deepEqual(await page.context().cookies(), []);
  },
);

test.serial(
  'an RSA key signs with the real program, a drawing is stored, and a refusal stops the flow',
  async (t) => {
    const { portal } = t.context;
    const { ANA, BRUNO } = peopleOf('drawn');
    const visited = await visit(t, portal.url, { locale: 'pt-BR' });
    const { page } = visited;
    const id = await portal.create(
      clausePdf(1),
      [
        {
          type: 'Signer',
          user: BRUNO,
          prePositionedMarks: [{ topLeftX: 50, topLeftY: 60, width: 200, height: 60 }],
        },
      ],
      { disablePendingActionNotifications: true },
    );
    const file = certificateFile({ kind: 'rsa-2048', password: 'abrir', name: BRUNO.name });
    const { url, embedUrl } = await portal.actionUrl(id, BRUNO.email);
    t.regex(embedUrl, /\/document\/key\/[A-Z0-9]{20}\/sign-embedded\?ticket=[\w-]+$/);
    await page.goto(url);
    await page.getByText('Assine aqui').waitFor();
    await openSigning(page);
    await page.getByLabel('Arquivo de certificado').setInputFiles(file.path);
    await page.getByLabel('Senha do arquivo').fill('abrir');
    await page.getByRole('button', { name: 'Assinar o documento' }).click();
    await page.getByText('O documento foi assinado com o certificado de Bruno Lima.').waitFor();
    await portal.reached(id, 'Concluded');
    const [verdict] = await pdfsig(await portal.signedFile(id), pki());
    t.like(verdict, { signature: 'Signature is Valid.', certificate: 'Certificate is Trusted.' });

    const drawn = await portal.create(clausePdf(1), [
      { type: 'Signer', step: 1, user: ANA, allowElectronicSignature: true },
      { type: 'Signer', step: 2, user: BRUNO },
    ]);
    await page.goto((await portal.actionUrl(drawn, ANA.email)).url);
    await openSigning(page);
    await page.getByRole('tab', { name: 'Desenhar' }).click();
    const area = page.getByRole('img', { name: 'Área de desenho' });
    await area.hover();
    await page.mouse.down();
    await page.mouse.move(300, 300, { steps: 3 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Assinar o documento' }).click();
    await page.getByText('Você assinou o documento.').waitFor();

    await page.goto((await portal.actionUrl(drawn, BRUNO.email)).url);
    await page.getByText('Recusar', { exact: true }).click();
    await page.getByLabel('Por que você recusa?').fill('O valor está errado.');
    await page.getByRole('button', { name: 'Recusar o documento' }).click();
    await page.getByText('Você recusou o documento.').waitFor();
    const refused = await portal.reached(drawn, 'Refused');
    t.is(refused.flowActions[1]?.refusalReason, 'O valor está errado.');
    await page.reload();
    await page.getByRole('heading', { name: 'O documento foi recusado' }).waitFor();
    await page.getByText('O valor está errado.').waitFor();
  },
);

test.serial('documents that wait for one mailbox are one visit, whose ends lead on', async (t) => {
  const { portal } = t.context;
  const { ANA } = peopleOf('visit');
  const visited = await visit(t, portal.url, { locale: 'en-US', reducedMotion: 'reduce' });
  const { page } = visited;
  const flow = [{ type: 'Signer', user: ANA, allowElectronicSignature: true }];
  await portal.create(clausePdf(1), flow);
  const upload = async (displayName: string) => {
    const bytes = clausePdf(1).toString('base64');
    const { id } = await portal.call<{ id: string }>('POST', '/api/uploads/bytes', { bytes });
    return { displayName, id, name: `${displayName}.pdf`, contentType: 'application/pdf' };
  };
  await portal.create(clausePdf(1), flow, { files: [await upload('Lease'), await upload('Annex')] });
  const [, link = ''] = await portal.mail(ANA.email, /Lease[\s\S]*?(http\S+\/sign\?ticket=\S+)/);
  await page.goto(link);
  const names = page.locator('.visit > li a');
  const sent = ['Lease', 'Annex'];
  const other = 'Rental agreement';
  for (const [place, name] of [...sent, other].entries()) {
    await page.getByRole('heading', { level: 1, name }).waitFor();
    const isOther = name === other;
    if (!isOther) await page.locator('.top .from', { hasText: `${place + 1} of 2` }).waitFor();
    t.deepEqual(await names.allTextContents(), isOther ? [] : sent, 'before the code');
    await page.locator('.page[data-drawn]').first().waitFor();
    await openSigning(page);
    const [, code = ''] = await portal.mail(ANA.email, new RegExp(`${name}[\\s\\S]*?^ {4}(\\d{6})$`, 'm'));
    await page.getByLabel('Code from the e-mail').fill(code);
    await page.locator('#signed-page canvas').waitFor();
    t.deepEqual(await names.allTextContents(), isOther ? [] : [...sent, other], 'after the code');
    t.is(await page.locator('.visit .icon').count(), isOther ? 0 : place + 1);
    await assertAccessible(t, page, name);
    const lead = page.locator('.main:is(button, a):visible');
    if (isOther) t.deepEqual(await lead.allTextContents(), ['Download the signed document']);
    else await lead.and(page.getByRole('link', { name: `Next: ${sent[place + 1] ?? other}` })).press('Enter');
  }
});

/** A proxy that serves a program below a path of its own host, and records what is asked beside that path. */
async function startProxy(t: ExecutionContext, path: string) {
  let target = '';
  const beside: string[] = [];
  const server = createServer((request, answer) => {
    const url = request.url ?? '';
    if (!url.startsWith(`${path}/`)) {
      beside.push(`${request.method} ${url}`);
      answer.writeHead(404).end();
      return;
    }
    const { method, headers } = request;
    const onward = httpRequest(new URL(url.slice(path.length), target), { method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    request.pipe(onward);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const serve = (url: string) => {
    target = url;
  };
  return { origin, beside, serve };
}

test.serial('pages, their files and their calls are below the path of Portal:PublicUrl', async (t) => {
  const proxy = await startProxy(t, '/sign');
  const portal = await PortalProgram.start(t, { 'Portal:PublicUrl': `${proxy.origin}/sign` });
  proxy.serve(portal.url);
  const { BRUNO } = peopleOf('below');
  const visited = await visit(t, proxy.origin, { locale: 'en-US' });
  const { page } = visited;
  const id = await portal.create(clausePdf(1), [{ type: 'Signer', user: BRUNO }]);
  const file = certificateFile({ kind: 'p-256', password: 'open', name: BRUNO.name });
  await page.goto((await portal.actionUrl(id, BRUNO.email)).url);
  await page.locator('.page[data-drawn]').first().waitFor();
  await openSigning(page);
  await page.getByLabel('Certificate file').setInputFiles(file.path);
  await page.getByLabel('Password of the file').fill('open');
  await page.getByRole('button', { name: 'Sign the document' }).click();
  await page.getByText('The document was signed with the certificate of Bruno Lima.').waitFor();
  await portal.reached(id, 'Concluded');
  await page.goto(`${proxy.origin}/sign/account`);
  await page.waitForURL(`${proxy.origin}/sign/sign-in*`);
  await page.goto(`${proxy.origin}/sign/`);
  const links = await page.locator('a').evaluateAll((found) => found.map((one) => one.getAttribute('href')));
  t.true(links.length > 1);
  t.deepEqual(
    links.filter((link) => !link?.startsWith('/sign/')),
    [],
  );
  await page.goto(`${proxy.origin}/sign/scalar/v1`);
  await page.getByRole('heading').first().waitFor();
  t.deepEqual(proxy.beside, []);
});

const ANN = { name: 'Ann Example', email: 'ann@example.org', identifier: '12345678909' };

test.serial(
  'a file dropped into a folder is signed by a person on the page of the portal and comes out in the output folder',
  async (t) => {
    const { portal } = t.context;
    const visited = await visit(t, portal.url, { locale: 'en-US' });
    const root = await temporaryRoot(t);
    const batch = await Service.start(t, {
      root,
      settings: {
        'Signing:Profiles:0:Name': 'default',
        'Signing:Profiles:0:Format': 'Pades',
        'Signing:Profiles:0:Method': 'RemoteSigner',
        'Signing:Profiles:0:RemoteSigner:Name': ANN.name,
        'Signing:Profiles:0:RemoteSigner:Email': ANN.email,
        'Signing:Profiles:0:RemoteSigner:Identifier': ANN.identifier,
        'Signing:Profiles:0:RemoteSigner:AllowElectronicSignature': true,
        'RemoteSigner:Endpoint': portal.url,
        'RemoteSigner:ApiKey': portal.key,
        'RemoteSigner:PollIntervalSeconds': 1,
      },
    });
    await writeFile(join(root, 'input', 'contract.pdf'), clausePdf(2));
    const { items } = await batch.until('the document to be on the portal', async () => {
      const found = await portal.call<{ items: { id: string; name: string }[] }>(
        'GET',
        `/api/documents?Status=Pending&ParticipantQ=${ANN.email}&ParticipantQueryType=Email`,
      );
      return found.items.length > 0 ? found : undefined;
    });
    t.deepEqual(
      items.map(({ name }) => name),
      ['contract.pdf'],
    );
    const waiting = await batch.until('the job to wait for its signer', async () => {
      const [job] = await batch.jobs();
      return job?.status === 'AwaitingSigner' ? job : undefined;
    });
    t.true(
      existsSync(join(root, 'input', 'contract.pdf')),
      'the original stays while the person has not signed',
    );

    const { url } = await portal.actionUrl(items[0]?.id ?? '', ANN.email);
    const { page } = visited;
    await page.goto(url);
    await openSigning(page);
    await page.getByRole('button', { name: 'Sign the document' }).click();
    await page.getByText('You signed the document.').waitFor();

    const job = await batch.finished(waiting.id);
    t.is(job.status, 'Completed', job.errorMessage ?? '');
    const [output = ''] = await readdir(join(root, 'output'));
    const verdicts = await pdfsig(join(root, 'output', output), pki());
    t.deepEqual(
      verdicts.map(({ signature }) => signature),
      ['Signature is Valid.'],
    );
    await batch.until('the original to be gone', async () =>
      existsSync(join(root, 'input', 'contract.pdf')) ? undefined : true,
    );
  },
);

test.serial(
  'a person hands the action on from a phone, with a mailed code, and the other one signs',
  async (t) => {
    const { portal } = t.context;
    const { ANA, BRUNO } = peopleOf('handed');
    const { page } = await visit(t, portal.url, PHONE);
    const id = await portal.create(clausePdf(1), [
      { type: 'Signer', user: ANA, allowElectronicSignature: true, allowPassingOn: true },
    ]);
    const [link = ''] = await portal.mail(ANA.email, /http:\/\/\S+\/document\/key\/\S+/);
    await page.goto(link);
    await page.locator('.page[data-drawn]').first().waitFor();
    await page.getByRole('link', { name: 'Hand on to another person' }).tap();
    await page.getByLabel('Full name of the person').fill(BRUNO.name);
    await page.getByLabel('E-mail address of the person').fill(BRUNO.email);
    await page.getByLabel('Reason').fill('I am on leave.');
    await assertAccessible(t, page, 'the form');
    t.deepEqual(await page.evaluate(OUT_OF_REACH), []);
    await page.getByRole('button', { name: 'Hand on' }).tap();
    const [, code = ''] = await portal.mail(ANA.email, /^ {4}(\d{6})$/m);
    await page.locator('input[autocomplete="one-time-code"]').fill(code);
    await assertAccessible(t, page, 'the code');
    t.deepEqual(await page.evaluate(OUT_OF_REACH), []);
    await page.locator('form button[type="submit"]').first().tap();
    await page.locator('[data-state="passed-on"]', { hasText: BRUNO.name }).waitFor();
    await assertAccessible(t, page, 'handed on');
    t.deepEqual(await page.evaluate(OUT_OF_REACH), []);

    const [other = ''] = await portal.mail(BRUNO.email, /http:\/\/\S+\/document\/key\/\S+/);
    await page.goto(other);
    await openSigning(page);
    await page.getByText('The code was sent').waitFor();
    const [, second = ''] = await portal.mail(BRUNO.email, /^ {4}(\d{6})$/m);
    await page.getByLabel('Code from the e-mail').fill(second);
    await page.getByText('You signed the document.').waitFor();
    await portal.reached(id, 'Concluded');
  },
);

test.serial(
  'a person signs what waits for the mailbox from a phone and by keyboard, in one act',
  async (t) => {
    const { portal } = t.context;
    const { ANA } = peopleOf('waiting');
    const { page } = await visit(t, portal.url, PHONE);
    const asks = { type: 'Signer', user: ANA, allowElectronicSignature: true };
    const ids = [
      await portal.create(clausePdf(1), [asks]),
      await portal.create(clausePdf(1), [{ ...asks, type: 'Approver' }]),
      await portal.create(clausePdf(1), [{ ...asks, signatureInitialsMode: 'Required' }]),
    ];
    await page.goto(`${portal.url}/waiting`);
    const checked = async (what: string) => {
      await assertAccessible(t, page, what);
      t.deepEqual(await page.evaluate(OUT_OF_REACH), [], what);
    };
    await checked('the address');
    await page.getByLabel('Your e-mail address').fill(ANA.email);
    await page.keyboard.press('Enter');
    await page.locator('input[autocomplete="one-time-code"]').waitFor();
    await checked('the code');
    const [, code = ''] = await portal.mail(ANA.email, /^ {4}(\d{10})$/m);
    await page.locator('input[autocomplete="one-time-code"]').fill(code);
    await page.keyboard.press('Enter');
    await page.getByText('Asks for your initials: open it.').waitFor();
    await checked('the list');
    t.is(await page.getByRole('checkbox', { checked: true }).count(), 0);
    await page.getByRole('link', { name: 'Select all of this page' }).tap();
    await page.getByRole('checkbox', { checked: true }).last().waitFor();
    t.is(await page.getByRole('checkbox', { checked: true }).count(), 2);
    await page.getByLabel('name').last().fill(ANA.name);
    await page.keyboard.press('Enter');
    await page.getByText('2 documents are signed.').waitFor();
    await checked('what is left');
    for (const id of ids.slice(0, 2)) await portal.reached(id, 'Concluded');
    await page.getByRole('link', { name: /^Open / }).tap();
    await page.locator('.page[data-drawn]').first().waitFor();
    await page.goto(`${portal.url}/waiting`);
    await page.getByRole('button', { name: 'Leave' }).tap();
    await page.getByLabel('Your e-mail address').waitFor();
  },
);
