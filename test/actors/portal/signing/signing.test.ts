import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@sealwright/runtime';
import { validateFile } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { DOCUMENT } from '../../../../actors/portal/document-records/document-index.ts';
import { classicPdf, documentObjects } from '../../../crypto/pdf/build.ts';
import { pki } from '../../../pki/pki.ts';
import { reached } from '../../../project/waiting.ts';
import { mutool, opensslCms, pdfsig, qpdf, runTool, withTools, xmlsec1 } from '../../../verifiers/index.ts';
import {
  approver,
  ORIGIN,
  type PortalFixture,
  person,
  portalFixture,
  signer,
} from '../documents/flow-harness.ts';

const toolTest = withTools(test, 'pdftotext', 'pdfsig', 'certutil');

/** Every signature of a PDF is good in the eyes of three programs, and the newest covers the whole file. */
async function assertGood(t: ExecutionContext, path: string, count: number): Promise<void> {
  const verdicts = await pdfsig(path, pki());
  const said = JSON.stringify(verdicts);
  t.true(verdicts.length === count, said);
  t.true(
    verdicts.every(({ signature }) => signature === 'Signature is Valid.'),
    said,
  );
  // Of a certificate that comes again pdfsig says nothing of use.
  t.true(verdicts[0]?.certificate === 'Certificate is Trusted.', said);
  t.true(verdicts.at(-1)?.coversWholeFile, said);
  const seen = await mutool(path);
  const good = seen.filter(({ unchanged, editedSince }) => unchanged || editedSince);
  t.true(good.length === count, JSON.stringify(seen));
  t.true((await qpdf(path)).exit === 0);
}

async function signWithKey(fixture: PortalFixture, id: Parameters<PortalFixture['get']>[0], email: string) {
  const access = await fixture.ticket(id, email);
  const { certificate, key } = pki().signer('rsa-2048');
  const started = await fixture.portal.signing.startCertificate(access, {
    certificate,
    positions: [{ topLeftX: 10, topLeftY: 10, width: 100, height: 40, pageNumber: 1 }],
  });
  const { toSign, token } = started;
  if (toSign === null || token === null) throw new Error(JSON.stringify(started.validationResults));
  const signature = key.sign(Buffer.from(toSign, 'base64'), { scheme: 'rsa-pkcs1', digest: 'sha256' });
  return { access, token, signature, started };
}

test.serial(
  'ten participants in five steps sign one PDF, in parallel within a step, and all ten signatures are valid',
  async (t) => {
    const fixture = await portalFixture(t);
    const names = Array.from({ length: 10 }, (_, at) => `P${at}`);
    const mark = { topLeftX: 50, topLeftY: 60, width: 180, height: 60 };
    const flow = names.map((name, at) =>
      signer(name, Math.floor(at / 2), at < 2 ? { title: 'Director', prePositionedMarks: [mark] } : {}),
    );
    const id = await fixture.create(flow);
    for (let step = 0; step < 5; step++) {
      const { flowActions } = await fixture.get(id);
      t.deepEqual(
        flowActions.filter(({ status }) => status === 'Pending').map(({ user }) => user?.name),
        names.slice(step * 2, step * 2 + 2),
      );
      const later = names[step * 2 + 2];
      if (later !== undefined)
        await t.throwsAsync(fixture.ticket(id, `${later}@example.org`), { message: /no pending action/ });
      await Promise.all(
        names.slice(step * 2, step * 2 + 2).map((name) => fixture.sign(id, `${name}@example.org`)),
      );
      await fixture.until(
        id,
        ({ flowActions: now }) => now.filter(({ status }) => status === 'Completed').length === step * 2 + 2,
      );
    }
    const done = await fixture.until(id, ({ status }) => status === 'Concluded');
    t.is(done.processingError, null);
    t.true(done.flowActions.every(({ isElectronic }) => isElectronic === true));
    await assertGood(t, await fixture.signedFile(id), 10);
    t.deepEqual(
      fixture.events.map(({ type, sequence }) => [type, sequence]),
      [
        ['DocumentsCreated', 1],
        ...names.map((_, at) => ['DocumentSigned', at + 2]),
        ['DocumentConcluded', 12],
      ],
    );
    const record = await fixture.portal.validation.byDocument(fixture.tenant, id);
    t.is(record.signers.length, 10);
    t.true(record.signers.every(({ isElectronic, evidences }) => isElectronic && evidences !== null));
    t.deepEqual(record.signers.map(({ subjectName }) => subjectName).sort(), [...names].sort());
    t.deepEqual(fixture.complaints, []);
  },
);

test.serial(
  'a participant signs by own certificate in two calls, beside one who signs electronically',
  async (t) => {
    const fixture = await portalFixture(t);
    const id = await fixture.create([{ user: person('Cy'), step: 0 }, signer('Ana', 0)]);
    const { access, token, signature } = await signWithKey(fixture, id, 'cy@example.org');
    const completed = await fixture.portal.signing.completeCertificate(access, { token, signature }, ORIGIN);
    t.true(completed.success, JSON.stringify(completed.validationResults));
    await fixture.sign(id, 'ana@example.org');
    await fixture.until(id, ({ status }) => status === 'Concluded');
    await assertGood(t, await fixture.signedFile(id), 2);
    const again = fixture.portal.signing.completeCertificate(access, { token, signature }, ORIGIN);
    await t.throwsAsync(again, { message: /ticket/ });
  },
);

test.serial(
  'a started certificate signature blocks no other, and is repeated after a change of the file',
  async (t) => {
    const fixture = await portalFixture(t);
    const id = await fixture.create([{ user: person('Cy'), step: 0 }, signer('Ana', 0)]);
    const { access, token, signature } = await signWithKey(fixture, id, 'cy@example.org');
    await fixture.sign(id, 'ana@example.org');
    await fixture.until(id, ({ hasSignature }) => hasSignature);
    const { signing } = fixture.portal;
    const changed = await signing.completeCertificate(access, { token, signature }, ORIGIN);
    t.false(changed.success);
    t.is(changed.validationResults.errors[0]?.type, 'document.changed');
    const again = {
      token: changed.token ?? '',
      signature: pki()
        .signer('rsa-2048')
        .key.sign(Buffer.from(changed.toSign ?? '', 'base64'), { scheme: 'rsa-pkcs1', digest: 'sha256' }),
    };
    t.true((await signing.completeCertificate(access, again, ORIGIN)).success);
    await fixture.until(id, ({ status }) => status === 'Concluded');
    await assertGood(t, await fixture.signedFile(id), 2);
  },
);

/** However long a test takes, what is made is waited for. */
const PATIENT = Object.assign(Object.create(systemClock) as typeof systemClock, {
  after: (ms: number, act: () => void) => (ms === 10_000 ? () => {} : systemClock.after(ms, act)),
});

/** The next signature that is made stays so until `goOn`. */
function heldSignature({ faults }: PortalFixture): { readonly isMade: Promise<void>; goOn(): void } {
  let goOn = () => {};
  const isMade = new Promise<void>((made) => {
    faults.arm('portal.signature.kept', () => {
      made();
      return new Promise((resolve) => {
        goOn = resolve;
      });
    });
  });
  return { isMade, goOn: () => goOn() };
}

test.serial(
  'a start with a certificate waits for a signature that is being made, and a signature made in vain is not counted',
  async (t) => {
    const signed: string[] = [];
    const fixture = await portalFixture(t, { clock: PATIENT, onSigned: (kind) => void signed.push(kind) });
    const { portal } = fixture;
    const id = await fixture.create([{ user: person('Cy'), step: 0 }, signer('Ana', 0), approver('Bo')]);
    const { isMade, goOn } = heldSignature(fixture);
    const ana = fixture.sign(id, 'ana@example.org');
    await isMade;
    let isStarted = false;
    const starting = signWithKey(fixture, id, 'cy@example.org').then((started) => {
      isStarted = true;
      return started;
    });
    await signWithKey(fixture, await fixture.create([{ user: person('Cy') }]), 'cy@example.org');
    t.false(isStarted);
    // Changes the document that the signature was made for.
    await portal.signing.approve(await fixture.ticket(id, 'bo@example.org'), ORIGIN);
    goOn();
    const { access, token, signature } = await starting;
    await ana;
    t.deepEqual(signed, ['electronic']);
    const revision = async () => (await fixture.runtime.read(DOCUMENT, id))?.revision ?? 0;
    const before = await revision();
    const completed = await portal.signing.completeCertificate(access, { token, signature }, ORIGIN);
    t.true(completed.success, JSON.stringify(completed.validationResults));
    t.is((await fixture.get(id)).status, 'Concluded');
    t.is(await revision(), before + 1);
    t.deepEqual(signed, ['electronic', 'certificate']);
  },
);

for (const [how, needsCode] of [
  ['electronically', false],
  ['with a code', true],
] as const) {
  test.serial(`somebody who signs ${how} does not overtake a certificate signature being made`, async (t) => {
    const fixture = await portalFixture(t, { clock: PATIENT });
    const { portal, mails } = fixture;
    const id = await fixture.create([{ user: person('Cy'), step: 0 }, signer('Ana', 0), approver('Bo')], {
      disablePendingActionNotifications: true,
    });
    const ana = await fixture.ticket(id, 'ana@example.org', needsCode);
    let emailCode: string | undefined;
    if (needsCode) {
      await portal.signing.sendCode(ana, 'Email', false);
      const sent = () => mails.flatMap(({ text }) => /\b\d{6}\b/.exec(text) ?? []).at(-1);
      await reached(() => sent() !== undefined);
      emailCode = sent();
    }
    const { access, token, signature } = await signWithKey(fixture, id, 'cy@example.org');
    const { isMade, goOn } = heldSignature(fixture);
    const completing = portal.signing.completeCertificate(access, { token, signature }, ORIGIN);
    await isMade;
    const signing = portal.signing.signElectronically(
      ana,
      { positions: [], initialsPositions: [], ...(emailCode !== undefined && { emailCode }) },
      ORIGIN,
    );
    // Changes the document, so that what was made is not taken; Ana's call waits by then.
    await portal.signing.approve(await fixture.ticket(id, 'bo@example.org'), ORIGIN);
    await signWithKey(fixture, await fixture.create([{ user: person('Cy') }]), 'cy@example.org');
    goOn();
    const completed = await completing;
    t.true(completed.success, JSON.stringify(completed.validationResults));
    await signing;
    await fixture.until(id, ({ status }) => status === 'Concluded');
    await assertGood(t, await fixture.signedFile(id), 2);
  });
}

test.serial(
  'a code counts as it is pasted: with spaces, hyphens, marks of direction, or digits in full width',
  async (t) => {
    const fixture = await portalFixture(t);
    const { portal, mails } = fixture;
    const id = await fixture.create(['Ana', 'Bob', 'Cy', 'Dora'].map((name) => signer(name, 0)));
    const wide = (code: string) =>
      code.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
    for (const [email, pasted] of [
      ['ana@example.org', (code: string) => ` ${code.slice(0, 3)}\u00a0${code.slice(3)}\n`],
      ['bob@example.org', (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`],
      ['cy@example.org', wide],
      ['dora@example.org', (code: string) => `\u200e${code}\u200b`],
    ] as const) {
      const access = await fixture.ticket(id, email, true);
      await portal.signing.sendCode(access, 'Email', false);
      const sent = () =>
        mails.flatMap(({ to, text }) => (to.address === email ? (/\b\d{6}\b/.exec(text) ?? []) : [])).at(-1);
      await reached(() => sent() !== undefined);
      const code = sent() ?? '';
      const sign = (emailCode: string) =>
        portal.signing.signElectronically(
          access,
          { positions: [], initialsPositions: [], emailCode },
          ORIGIN,
        );
      await t.throwsAsync(sign(`${pasted(code)}1`), { code: 'InvalidAuthenticationCode' });
      await t.notThrowsAsync(sign(pasted(code)));
    }
  },
);

test.serial('a certificate signature that is completed just before its token ends is kept', async (t) => {
  let later = 0;
  const clock = Object.assign(Object.create(systemClock) as typeof systemClock, {
    now: () => systemClock.now() + later,
  });
  const fixture = await portalFixture(t, { clock });
  const id = await fixture.create([{ user: person('Cy'), step: 0 }]);
  const { access, token, signature } = await signWithKey(fixture, id, 'cy@example.org');
  later = 10 * 60_000 - 8_000;
  const { isMade, goOn } = heldSignature(fixture);
  const completing = fixture.portal.signing.completeCertificate(access, { token, signature }, ORIGIN);
  await isMade;
  later += 20_000;
  goOn();
  t.true((await completing).success);
  await fixture.until(id, ({ status }) => status === 'Concluded');
});

test.serial('a value of another key is refused for its signer and leaves the turn open', async (t) => {
  const fixture = await portalFixture(t);
  const id = await fixture.create([{ user: person('Cy'), step: 0 }]);
  const { access, token } = await signWithKey(fixture, id, 'cy@example.org');
  const wrong = pki()
    .signer('rsa-2048')
    .key.sign(Buffer.from('other'), { scheme: 'rsa-pkcs1', digest: 'sha256' });
  const refused = await fixture.portal.signing.completeCertificate(
    access,
    { token, signature: wrong },
    ORIGIN,
  );
  t.false(refused.success);
  t.is(refused.validationResults.errors[0]?.type, 'signature.mismatch');
  const { flowActions, processingError } = await fixture.get(id);
  t.deepEqual([flowActions[0]?.status, processingError], ['Pending', null]);
  const next = await signWithKey(fixture, id, 'cy@example.org');
  const completed = await fixture.portal.signing.completeCertificate(next.access, next, ORIGIN);
  t.true(completed.success);
  await fixture.until(id, ({ status }) => status === 'Concluded');
});

test.serial(
  'a file that is not a PDF gets one detached signature file with all signers, certificates and seals',
  async (t) => {
    const fixture = await portalFixture(t);
    const content = Buffer.from('plain words\n');
    const files = [await fixture.file('words.txt', content, 'text/plain')];
    const id = await fixture.create([signer('Ana'), signer('Bob'), { user: person('Cy') }], { files });
    const { access, token, signature } = await signWithKey(fixture, id, 'cy@example.org');
    await fixture.sign(id, 'ana@example.org');
    // The file beside the signatures stays the same, so participants need not wait for each other.
    const completed = await fixture.portal.signing.completeCertificate(access, { token, signature }, ORIGIN);
    t.true(completed.success, JSON.stringify(completed.validationResults));
    await fixture.sign(id, 'bob@example.org');
    await fixture.until(id, ({ status }) => status === 'Concluded');
    const signed = await fixture.signedFile(id, 'words.txt.p7s');
    const beside = join(fixture.root, 'words.txt');
    writeFileSync(beside, content);
    const verdict = await opensslCms({ signature: signed, content: beside, ca: pki().rootFile });
    t.true(verdict.ok, verdict.text);
    t.is((await fixture.portal.validation.byDocument(fixture.tenant, id)).signers.length, 3);
  },
);

toolTest.serial(
  'a signature has its appearance and its reason in the language of the organization',
  async (t) => {
    const application = {
      organization: 'Org',
      application: 'App',
      role: 'Normal',
      secret: 's'.repeat(64),
    } as const;
    const fixture = await portalFixture(t, {
      tenants: {
        organizations: [{ name: 'Org', language: 'pt' }],
        applications: [{ ...application, from: 'stored' }],
      },
    });
    const id = await fixture.create([signer('Ana', 1), { user: person('Cy'), step: 2, title: 'Diretor' }]);
    const place = { topLeftX: 200, topLeftY: 10, width: 200, height: 80, pageNumber: 1 };
    await fixture.sign(id, 'ana@example.org', { positions: [place] });
    await fixture.until(id, ({ flowActions: [ana] }) => ana?.status === 'Completed');
    const { access, token, signature } = await signWithKey(fixture, id, 'cy@example.org');
    await fixture.portal.signing.completeCertificate(access, { token, signature }, ORIGIN);
    await fixture.until(id, ({ status }) => status === 'Concluded');
    const path = await fixture.signedFile(id);
    const { stdout } = await runTool('pdftotext', ['-enc', 'UTF-8', path, '-']);
    for (const words of ['Assinatura eletrônica', 'Assinatura com certificado'])
      t.true(stdout.includes(words), stdout);
    const trust = { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' } as const;
    const { signatures } = await validateFile({ format: 'Pades', path, trust, at: Date.now() });
    const [sealed, own] = signatures.map(({ reason }) => reason ?? '');
    t.regex(
      sealed ?? '',
      /^Assinado eletronicamente por Ana \(ana@example\.org\)\. SHA-256 das evidências \(Base64\): \S{44}$/,
    );
    t.is(own, 'Assinado por Cy, Diretor');
  },
);

test.serial('several people sign an XML document, each the whole document', async (t) => {
  const fixture = await portalFixture(t);
  const files = [
    await fixture.file('order.xml', Buffer.from('<order><total>10</total></order>'), 'application/xml'),
  ];
  const id = await fixture.create([signer('Ana', 0), { user: person('Cy'), step: 1 }], { files });
  await fixture.sign(id, 'ana@example.org');
  t.is((await fixture.get(id)).processingError, null);
  const { access, token, signature } = await signWithKey(fixture, id, 'cy@example.org');
  t.true((await fixture.portal.signing.completeCertificate(access, { token, signature }, ORIGIN)).success);
  await fixture.until(id, ({ status }) => status === 'Concluded');
  const path = await fixture.signedFile(id, 'order.xml');
  const ids = [...readFileSync(path, 'utf8').matchAll(/<ds:Signature [^>]*Id="([^"]+)"/g)].map(
    ([, one]) => one ?? '',
  );
  t.is(ids.length, 2);
  const idAttributes = [['Id', 'http://www.w3.org/2000/09/xmldsig#:Signature']] as const;
  for (const nodeId of ids) {
    const verdict = await xmlsec1({ file: path, ca: pki().rootFile, nodeId, idAttributes });
    t.true(verdict.ok, verdict.text);
  }
  const { signers } = await fixture.portal.validation.byDocument(fixture.tenant, id);
  t.is(signers.length, 2);
  t.true(
    signers.every(({ validationResults }) => validationResults.isValid),
    JSON.stringify(signers),
  );
});

test.serial('a PDF that cannot be signed is refused before any document is made of it', async (t) => {
  const fixture = await portalFixture(t);
  for (const content of ['%PDF-1.7\nnothing', 'no PDF at all']) {
    const files = [await fixture.file('bad.pdf', Buffer.from(content))];
    const making = fixture.create([signer('Ana')], { files });
    const error = await t.throwsAsync(making);
    t.is((error as { code?: string }).code, 'DocumentUnreadable');
  }
  t.is(
    (await fixture.portal.documents.list(fixture.tenant, { limit: 10, offset: 0, newestFirst: false }))
      .totalCount,
    0,
  );
});

test.serial('an unsuitable certificate, or a missing one, is refused with the reason', async (t) => {
  const fixture = await portalFixture(t);
  const { certificate } = pki().signer('rsa-2048');
  for (const [demand, der, type] of [
    [{ requiredCertificateHolderTypeToSign: 'Company' }, certificate, 'certificate.demand'],
    [{ requiredCertificateTypeToSign: 'A3' }, certificate, 'certificate.demand'],
    [{ requiredCompanyIdentifier: '11.222.333/0001-81' }, certificate, 'certificate.demand'],
    [{}, Buffer.from('no certificate'), 'certificate.malformed'],
    [{}, pki().signerValid(0, 86_400_000).certificate, 'certificate.expired'],
  ] as const) {
    const id = await fixture.create([{ user: person('Cy'), ...demand }]);
    const access = await fixture.ticket(id, 'cy@example.org');
    const started = await fixture.portal.signing.startCertificate(access, {
      certificate: der,
      positions: [],
    });
    t.like(started, { success: false, token: null, toSignHash: null });
    t.is(started.validationResults.errors[0]?.type, type);
    t.is((await fixture.get(id)).flowActions[0]?.status, 'Pending');
  }
});

test('letters of a participant that no font has are a warning on the document, and before signing by certificate', async (t) => {
  const fixture = await portalFixture(t);
  const mark = { topLeftX: 50, topLeftY: 60, width: 180, height: 60 };
  for (const [name, letter] of [
    ['Ana \u{10330}', '\u{10330} (U+10330)'],
    ['Ana', undefined],
  ] as const) {
    const user = { name, email: 'ana@example.org' };
    const id = await fixture.create([signer('Ana', 0, { user, prePositionedMarks: [mark] })]);
    t.deepEqual((await fixture.get(id)).warnings, [], name);
    const { started } = await signWithKey(fixture, id, 'ana@example.org');
    const said = started.validationResults.warnings.filter(({ type }) => type === 'pdf.no-glyph');
    t.is(said.length, letter === undefined ? 0 : 1, name);
    await fixture.sign(id, 'ana@example.org');
    const { warnings } = await fixture.until(id, ({ status }) => status === 'Concluded');
    t.deepEqual(
      warnings.map(({ code, object }) => [code, object]),
      letter === undefined ? [] : [['pdf.no-glyph', letter]],
      name,
    );
  }
});

toolTest(
  'initials stand on each of 400 pages, and more pages than a signature can mark are refused at creation',
  async (t) => {
    const fixture = await portalFixture(t);
    const ofPages = (count: number) =>
      fixture.file('long.pdf', classicPdf(documentObjects({ pages: count, text: 'Clause' })));
    const long = await ofPages(400);
    const initialed = signer('Ana', 0, { signatureInitialsMode: 'Required' });
    const id = await fixture.create([initialed, signer('Bo', 1)], { files: [long] });
    const place = { topLeftX: 100, topLeftY: 170, width: 60, height: 24 };
    // As the signing page sends them.
    const initialsPositions = Array.from({ length: 400 }, (_, page) => ({ ...place, pageNumber: page + 1 }));
    await fixture.sign(id, 'ana@example.org', { initialsPositions });
    await fixture.sign(id, 'bo@example.org');
    await fixture.until(id, ({ status }) => status === 'Concluded');
    const path = await fixture.signedFile(id);
    await assertGood(t, path, 2);
    const { stdout } = await runTool('pdftotext', ['-layout', path, '-']);
    t.is(stdout.match(/^ *A *$/gm)?.length, 400);
    // One picture of the initials serves all pages.
    t.true(statSync(path).size < 600_000);
    const longFile = await ofPages(1000);
    const tooLong = [longFile];
    for (const signatureInitialsMode of ['Required', 'Optional'] as const) {
      const refused = fixture.create([signer('Ana', 0, { signatureInitialsMode })], { files: tooLong });
      await t.throwsAsync(refused, { code: 'LimitExceeded', message: /at most 999 pages/ });
    }
    const placed = [{ ...place, type: 'SignatureInitials' as const, pageNumber: 1000 }];
    const may = fixture.create(
      [signer('Ana', 0, { signatureInitialsMode: 'Required', prePositionedMarks: placed })],
      { files: tooLong },
    );
    await t.notThrowsAsync(may);
    const edit = { editedFlowActions: [{ flowActionId: '', signatureInitialsMode: 'Required' as const }] };
    const other = await fixture.create([signer('Ana')], { files: tooLong });
    const [{ id: flowActionId } = { id: '' }] = (await fixture.get(other)).flowActions;
    const edited = fixture.portal.documentEdits.editFlow(fixture.tenant, other, {
      editedFlowActions: edit.editedFlowActions.map((one) => ({ ...one, flowActionId })),
    });
    await t.throwsAsync(edited, { code: 'LimitExceeded' });
    const version = { file: longFile };
    const short = await fixture.create([signer('Ana', 0, { signatureInitialsMode: 'Optional' })]);
    await t.throwsAsync(fixture.portal.documentEdits.newVersion(fixture.tenant, short, version), {
      code: 'LimitExceeded',
    });
  },
);
