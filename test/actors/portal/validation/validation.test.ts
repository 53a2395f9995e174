import { createHash, createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { makeDevelopmentCertificates } from '@sealwright/signatures';
import test from 'ava';
import type { Tenant } from '../../../../actors/portal/api.ts';
import type { SignatureView } from '../../../../contracts/portal/signing/validation.ts';
import type { DocumentStatus } from '../../../../contracts/portal/words.ts';
import type { ApplicationId, DocumentId, OrganizationId } from '../../../../machines/ids.ts';
import { pageTexts } from '../../../../web/pages/portal/texts.ts';
import { validationPage } from '../../../../web/pages/portal/validation-view.tsx';
import { contract } from '../../../crypto/pades/validation/attack-files.ts';
import { put, sign } from '../../../crypto/pades/validation/verdicts.ts';
import { pki, testSigner } from '../../../pki/pki.ts';
import { ORIGIN, type PortalFixture, person, signer } from '../documents/flow-harness.ts';
import { sharedPortalFixture } from '../renditions/shared-harness.ts';

const openFixture = sharedPortalFixture();

const code = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'answered',
    (error: { readonly code: string }) => error.code,
  );

/** Somebody else's key, as far as reading goes. */
const STRANGER: Tenant = {
  organization: { id: '11111111-2222-4333-8444-555555555555' as OrganizationId, name: 'Other' },
  application: {
    id: '11111111-2222-4333-8444-666666666666' as ApplicationId,
    name: 'Other app',
    role: 'Normal',
  },
};

async function signedByAna(
  fixture: PortalFixture,
  name = 'contract.pdf',
  content = contract(),
  type = 'application/pdf',
) {
  const id = await fixture.create(
    [
      signer('Ana', 1, {
        user: { name: 'Ana Müller', identifier: '390.533.447-05', email: 'ana@example.org' },
      }),
      signer('Bob', 2),
    ],
    { files: [await fixture.file(name, content, type)] },
  );
  await fixture.sign(id, 'ana@example.org', {
    geolocation: { latitude: -23.5, longitude: -46.6, accuracy: 10 },
  });
  const { key } = await fixture.until(id, ({ hasSignature }) => hasSignature);
  return { id, key };
}

/** Ana's signature by her own key. */
async function signByCertificate(fixture: PortalFixture, id: DocumentId, email: string) {
  const own = pki().signer('rsa-2048');
  const access = await fixture.ticket(id, email);
  const started = await fixture.portal.signing.startCertificate(access, {
    certificate: own.certificate,
    positions: [],
  });
  if (started.toSign === null || started.token === null) throw new Error('nothing to sign');
  const signature = own.key.sign(Buffer.from(started.toSign, 'base64'), {
    scheme: 'rsa-pkcs1',
    digest: 'sha256',
  });
  await fixture.portal.signing.completeCertificate(access, { token: started.token, signature }, ORIGIN);
  return own;
}

const thumbprint = (der: Buffer) => createHash('sha256').update(der).digest('base64');

test('an electronic signature is validated as that of the participant, sealed by the service, with its evidence', async (t) => {
  const fixture = await openFixture();
  const { id, key } = await signedByAna(fixture);
  const record = await fixture.portal.validation.byKey(fixture.tenant, key);
  const view = await fixture.get(id);
  t.is(record.id, id);
  t.is(record.name, 'contract');
  t.is(record.filename, 'contract.pdf');
  t.is(record.mimeType, 'application/pdf');
  t.is(record.status, 'Pending');
  t.is(record.creationDate, view.creationDate);
  t.is(record.createdBy.name, 'App');
  t.false(record.isEnvelope);
  t.false(record.isFile);
  const [signature, ...more] = record.signers;
  t.deepEqual(more, []);
  if (signature === undefined) return t.fail();
  t.like(signature, {
    subjectName: 'Ana Müller',
    emailAddress: 'ana@example.org',
    identifier: '39053344705',
    companyName: null,
    companyIdentifier: null,
    isElectronic: true,
    isTimestamp: false,
    certificateThumbprint: thumbprint(pki().signer('p-256').certificate),
  });
  t.true(signature.issuerName.length > 0);
  t.true(Math.abs((signature.signingTime ?? 0) - Date.now()) < 60_000);
  t.true(signature.validationResults.isValid, JSON.stringify(signature.validationResults.errors));
  t.true(
    signature.validationResults.passedChecks.some(
      ({ innerValidationResults }) => innerValidationResults !== null,
    ),
  );
  const evidences = signature.evidences ?? {};
  t.like(evidences, {
    ipAddress: ORIGIN.ipAddress,
    authenticationTypes: ['Application'],
    accountVerifiedEmail: null,
    authenticatedSelfie: null,
    geolocation: { latitude: -23.5, longitude: -46.6, accuracy: 10 },
  });
  t.like(evidences['authenticatedApplication'], { name: 'App', organizationName: 'Org' });
  t.regex(String(evidences['timestamp']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('the evidence is served as sealed, and its digest is in the signed file', async (t) => {
  const fixture = await openFixture();
  const { id } = await signedByAna(fixture);
  const [signature] = (await fixture.portal.validation.byDocument(fixture.tenant, id)).signers;
  const file = Buffer.from(String(signature?.evidences?.['file']), 'base64');
  const digest = createHash('sha256').update(file).digest('base64');
  t.is(signature?.evidences?.['evidencesSha256'], digest);
  const evidence = JSON.parse(file.toString()) as {
    readonly participant: object;
    readonly ipAddress: string;
  };
  t.like(evidence, {
    participant: { name: 'Ana Müller', email: 'ana@example.org' },
    ipAddress: ORIGIN.ipAddress,
  });
  const { path } = await fixture.portal.documents.content(fixture.tenant, id, 'Signatures');
  const inUtf16 = Buffer.from(digest, 'utf16le').swap16().toString('hex');
  t.true(readFileSync(path).toString('latin1').includes(inUtf16));
});

test('a key is matched without regard to case, dashes and spaces alone', async (t) => {
  const fixture = await openFixture();
  const { id, key } = await signedByAna(fixture);
  const { validation } = fixture.portal;
  const groups = key.match(/.{4}/g) ?? [];
  for (const spelling of [key.toLowerCase(), groups.join('-'), ` ${groups.join(' ')} `, groups.join('–')]) {
    t.is((await validation.byKey(fixture.tenant, spelling)).id, id, spelling);
  }
  const last = key.endsWith('A') ? 'B' : 'A';
  for (const wrong of [
    key.slice(1),
    `${key}A`,
    `${key.slice(0, -1)}${last}`,
    '',
    '-'.repeat(5_000),
    'ключ',
  ]) {
    t.is(await code(validation.byKey(fixture.tenant, wrong)), 'DocumentInvalidKey', wrong.slice(0, 30));
  }
});

test('documents of others are answered like missing ones, except with the key for the public page', async (t) => {
  const fixture = await openFixture();
  const { id, key } = await signedByAna(fixture);
  const { validation } = fixture.portal;
  t.is(await code(validation.byKey(STRANGER, key)), 'DocumentInvalidKey');
  t.is(await code(validation.byDocument(STRANGER, id)), 'DocumentNotFound');
  t.is((await validation.checked(key)).record.id, id);
});

test('a document without signatures has none to validate, approved or not, and a deleted one is reported as deleted', async (t) => {
  const fixture = await openFixture();
  const { validation, documents, signing } = fixture.portal;
  const id = await fixture.create([{ type: 'Approver', step: 1, user: person('Eve') }, signer('Ana', 2)]);
  const { key } = await fixture.get(id);
  t.is(await code(validation.byKey(fixture.tenant, key)), 'DocumentHasNoSignatures');
  await signing.approve(await fixture.ticket(id, 'eve@example.org'), ORIGIN);
  t.is(await code(validation.byDocument(fixture.tenant, id)), 'DocumentHasNoSignatures');
  await documents.remove(fixture.tenant, id);
  t.is(await code(validation.byKey(fixture.tenant, key)), 'DocumentIsDeleted');
  t.is(await code(validation.byDocument(fixture.tenant, id)), 'DocumentIsDeleted');
});

test('the check page has who approved and when, of approvals alone and beside signatures; the API answers signatures', async (t) => {
  const fixture = await openFixture();
  const { validation, signing } = fixture.portal;
  const asked = { type: 'Approver', step: 1, title: 'Controller', user: person('Eve') } as const;
  const alone = await fixture.create([asked]);
  const { key } = await fixture.get(alone);
  t.is(await code(validation.checked(key)), 'DocumentHasNoSignatures');
  await signing.approve(await fixture.ticket(alone, 'eve@example.org'), ORIGIN);
  await fixture.until(alone, ({ status }) => status === 'Concluded');
  const { record, approvals, files } = await validation.checked(key);
  t.is(files.signed, null);
  t.like(record, { id: alone, status: 'Concluded', signers: [] });
  t.like(approvals, [{ name: 'Eve', title: 'Controller', email: 'eve@example.org' }]);
  t.is(await code(validation.byKey(fixture.tenant, key)), 'DocumentHasNoSignatures');
  const page = validationPage({ found: 'record', record, approvals, files }, key, pageTexts('en'));
  for (const told of ['Eve', 'Controller', 'e***@example.org', new Date(approvals[0]?.at ?? 0).toISOString()])
    t.true(page.includes(told), told);
  t.false(page.includes('All signatures are valid'));

  const both = await fixture.create([asked, signer('Ana', 2)]);
  await signing.approve(await fixture.ticket(both, 'eve@example.org'), ORIGIN);
  await fixture.sign(both, 'ana@example.org');
  await fixture.until(both, ({ status }) => status === 'Concluded');
  const checked = await validation.checked((await fixture.get(both)).key);
  t.is(checked.record.signers.length, 1);
  t.deepEqual(
    checked.approvals.map(({ name }) => name),
    ['Eve'],
  );
});

/** Verdicts of the check page: only a concluded document is what everybody agreed to. */
const VERDICTS: {
  readonly [status in DocumentStatus]: readonly [tone: string, signed: string, approved: string];
} = {
  Pending: ['open', 'goodSoFar', 'approvedBySome'],
  FlowConcluded: ['open', 'goodSoFar', 'approvedBySome'],
  Concluded: ['good', 'allGood', 'approvedByAll'],
  Refused: ['bad', 'goodInVain', 'approvedInVain'],
  Canceled: ['bad', 'goodInVain', 'approvedInVain'],
  Expired: ['bad', 'goodInVain', 'approvedInVain'],
};

test('the check page calls a document good only where it is concluded and every signature is valid', async (t) => {
  const fixture = await openFixture();
  const { key } = await signedByAna(fixture);
  const { check } = pageTexts('en');
  const checked = await fixture.portal.validation.checked(key);
  const [signature] = checked.record.signers;
  if (signature === undefined) return t.fail();
  const broken = { ...signature, validationResults: { ...signature.validationResults, isValid: false } };
  for (const [status, [tone, signed, approved]] of Object.entries(VERDICTS))
    for (const [signers, expected] of [
      [[signature], [tone, signed]],
      [[], [tone, approved]],
      [
        [signature, broken],
        ['bad', 'someBad'],
      ],
    ] as const) {
      const record = { ...checked.record, status: status as DocumentStatus, signers };
      const page = validationPage({ found: 'record', ...checked, record }, key, pageTexts('en'));
      const [, shown, text] = /<p class="verdict (\w+)" role="status">([^<]*)/.exec(page) ?? [];
      t.deepEqual([shown, text], [expected[0], check[expected[1] as keyof typeof check]], status);
    }
});

test('the check page has the SHA-256 of the original and of the signed file', async (t) => {
  const fixture = await openFixture();
  const { id, key } = await signedByAna(fixture);
  const checked = await fixture.portal.validation.checked(key);
  const page = validationPage({ found: 'record', ...checked }, key, pageTexts('en'));
  for (const type of ['Original', 'Signatures'] as const) {
    const { path } = await fixture.portal.documents.content(fixture.tenant, id, type);
    const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
    t.true(page.includes(`<code>${sha256}</code>`), type);
  }
});

test('signatures by certificate and by seal in one file are each reported by kind', async (t) => {
  const fixture = await openFixture();
  const id = await fixture.create([{ user: person('Cy'), step: 1 }, signer('Ana', 2)]);
  const own = await signByCertificate(fixture, id, 'cy@example.org');
  await fixture.sign(id, 'ana@example.org');
  await fixture.until(id, ({ status }) => status === 'Concluded');
  const { signers, status } = await fixture.portal.validation.byDocument(fixture.tenant, id);
  t.is(status, 'Concluded');
  t.deepEqual(
    signers.map(({ isElectronic, certificateThumbprint }) => [isElectronic, certificateThumbprint]),
    [
      [false, thumbprint(own.certificate)],
      [true, thumbprint(pki().signer('p-256').certificate)],
    ],
  );
  const [byCertificate, sealed] = signers;
  t.is(byCertificate?.evidences, null);
  t.not(byCertificate?.subjectName, 'Cy', 'whoever the certificate is of');
  t.is(sealed?.subjectName, 'Ana');
  t.true(signers.every(({ validationResults }) => validationResults.isValid));
});

test('detached signatures of a text and signatures inside XML are matched to their signers', async (t) => {
  const fixture = await openFixture();
  for (const [name, content, type] of [
    ['note.txt', Buffer.from('Some text\n'), 'text/plain'],
    ['order.xml', Buffer.from('<order><total>10</total></order>'), 'application/xml'],
  ] as const) {
    const { id } = await signedByAna(fixture, name, content, type);
    await fixture.sign(id, 'bob@example.org');
    await fixture.until(id, ({ status }) => status === 'Concluded');
    const { signers } = await fixture.portal.validation.byDocument(fixture.tenant, id);
    t.deepEqual(
      signers.map(({ subjectName, isElectronic, validationResults }) => [
        subjectName,
        isElectronic,
        validationResults.isValid,
      ]),
      [
        ['Ana Müller', true, true],
        ['Bob', true, true],
      ],
      name,
    );
  }
});

test('signatures within one second are each matched to their signer', async (t) => {
  const fixture = await openFixture();
  const names = ['Ana', 'Bob', 'Cy', 'Di', 'Ed'];
  for (const [name, content, type] of [
    ['contract.pdf', contract(), 'application/pdf'],
    ['note.txt', Buffer.from('Some text\n'), 'text/plain'],
    ['order.xml', Buffer.from('<order><total>10</total></order>'), 'application/xml'],
  ] as const) {
    const files = [await fixture.file(name, content, type)];
    const id = await fixture.create(
      names.map((one) => signer(one)),
      { files },
    );
    await Promise.all(names.map((one) => fixture.sign(id, `${one.toLowerCase()}@example.org`)));
    await fixture.until(id, ({ status }) => status === 'Concluded');
    const { signers } = await fixture.portal.validation.byDocument(fixture.tenant, id);
    t.deepEqual(signers.map(({ subjectName }) => subjectName).sort(), names, name);
    t.true(
      signers.every(({ validationResults }) => validationResults.isValid),
      name,
    );
    const claimed = await ofUpload(fixture, await signedBytes(fixture, id), type);
    const latest = Math.max(...claimed.map(({ signingTime }) => signingTime ?? Infinity));
    t.is(claimed.length, names.length, name);
    // Who signs is asked the time just before the document is.
    t.true(latest <= Math.max(...signers.map(({ signingTime }) => signingTime ?? 0)) + 1000, name);
  }
});

/** Everything that is said of a file with these bytes. */
async function ofUpload(
  fixture: PortalFixture,
  content: Buffer,
  type: string,
): Promise<readonly SignatureView[]> {
  const { id } = await fixture.file('signed.bin', content, type);
  return fixture.portal.validation.ofUpload(fixture.tenant, { fileId: id, mimeType: type });
}

const signedBytes = async (fixture: PortalFixture, id: DocumentId) =>
  readFileSync((await fixture.portal.documents.content(fixture.tenant, id, 'Signatures')).path);

test('an uploaded signed file is valid unchanged, and invalid with one byte changed', async (t) => {
  const fixture = await openFixture();
  const { id } = await signedByAna(fixture);
  const signed = await signedBytes(fixture, id);
  const [good] = await ofUpload(fixture, signed, 'application/pdf');
  t.true(good?.validationResults.isValid, JSON.stringify(good?.validationResults.errors));
  t.true(good?.isElectronic);
  t.like(good?.evidences, { authenticationTypes: ['Application'] });
  const at = signed.indexOf('MediaBox') + 'MediaBox['.length + 4;
  const changed = Buffer.from(signed);
  changed[at] = (changed[at] ?? 0) ^ 1;
  const [bad] = await ofUpload(fixture, changed, 'application/pdf');
  t.false(bad?.validationResults.isValid);
  t.true((bad?.validationResults.errors.length ?? 0) > 0);
  t.is(bad?.certificateThumbprint, good?.certificateThumbprint);
});

test('a sealed file whose signature is given the name of another one is not taken for that one', async (t) => {
  const fixture = await openFixture();
  const sealed = async (name: string, total: number) => {
    const content = Buffer.from(`<order><total>${total}</total></order>`);
    const files = [await fixture.file('order.xml', content, 'application/xml')];
    const id = await fixture.create([signer(name)], { files });
    await fixture.sign(id, `${name.toLowerCase()}@example.org`);
    await fixture.until(id, ({ status }) => status === 'Concluded');
    const text = (await signedBytes(fixture, id)).toString();
    return { text, id: /<ds:Signature [^>]*Id="([^"]+)"/.exec(text)?.[1] ?? '' };
  };
  const ana = await sealed('Ana', 10);
  const mallory = await sealed('Mallory', 9999);
  // Neither the Id of a signature nor what points to it is signed.
  const forged = mallory.text
    .replace(`Id="${mallory.id}"`, `Id="${ana.id}"`)
    .replace(`Target="#${mallory.id}"`, `Target="#${ana.id}"`);
  const shown = async (text: string) =>
    (await ofUpload(fixture, Buffer.from(text), 'application/xml')).map(
      ({ subjectName, isElectronic, evidences, validationResults: { isValid } }) =>
        [subjectName, isElectronic, evidences !== null, isValid] as const,
    );
  t.deepEqual(await shown(ana.text), [['Ana', true, true, true]]);
  t.deepEqual(await shown(forged), [['Signer p-256', false, false, true]]);
  // Its own signature is known under any name beside further text, and is not good there.
  t.deepEqual(await shown(ana.text.replace('<total>10<', '<total>11<')), [['Ana', true, true, false]]);
});

test('the format of an uploaded file is detected by its content, with any name', async (t) => {
  const fixture = await openFixture();
  const pdf = await signedByAna(fixture);
  const xml = await signedByAna(fixture, 'a.xml', Buffer.from('<a>1</a>'), 'application/xml');
  for (const { id } of [pdf, xml]) {
    const [signature] = await ofUpload(fixture, await signedBytes(fixture, id), 'application/octet-stream');
    t.true(signature?.validationResults.isValid, JSON.stringify(signature?.validationResults.errors));
  }
});

test('a detached signature without its content is described as one with missing content', async (t) => {
  const fixture = await openFixture();
  const { id } = await signedByAna(fixture, 'note.txt', Buffer.from('Some text\n'), 'text/plain');
  const signed = await signedBytes(fixture, id);
  // While its document is there, its content is known.
  const [own] = await ofUpload(fixture, signed, 'application/pkcs7-signature');
  t.true(own?.validationResults.isValid);
  await fixture.portal.documents.remove(fixture.tenant, id);
  const [signature] = await ofUpload(fixture, signed, 'application/pkcs7-signature');
  t.is(signature?.certificateThumbprint, thumbprint(pki().signer('p-256').certificate));
  t.false(signature?.validationResults.isValid);
});

test('files without signatures, malformed ones and those of others are refused with codes of their own', async (t) => {
  const fixture = await openFixture();
  const refusal = (content: Buffer, type: string) => code(ofUpload(fixture, content, type));
  t.is(await refusal(contract(), 'application/pdf'), 'DocumentHasNoSignatures');
  t.is(await refusal(Buffer.from('<a/>'), 'text/xml'), 'DocumentHasNoSignatures');
  t.is(await refusal(Buffer.from('just words'), 'text/plain'), 'DocumentHasNoSignatures');
  t.is(await refusal(Buffer.from('just words'), 'application/pdf'), 'DocumentUnreadable');
  t.is(await refusal(Buffer.from('%PDF-1.7 and no more'), 'application/pdf'), 'DocumentUnreadable');
  t.is(await refusal(Buffer.from('<a><b>'), 'application/xml'), 'DocumentUnreadable');
  t.is(await refusal(Buffer.from([0x30, 0x80, 1, 2, 3]), 'application/pkcs7-mime'), 'DocumentUnreadable');
  t.is(await refusal(Buffer.from('PK\x03\x04 and no more'), 'application/zip'), 'DocumentUnreadable');
  const { id } = await fixture.file('signed.pdf', contract(), 'application/pdf');
  const { validation } = fixture.portal;
  const mimeType = 'application/pdf';
  t.is(await code(validation.ofUpload(STRANGER, { fileId: id, mimeType })), 'UploadNotFound');
  t.is(await code(validation.ofUpload(fixture.tenant, { fileId: 'no id', mimeType })), 'UploadNotFound');
});

test('the report names the person who signed for a rule, and not the other candidates', async (t) => {
  const fixture = await openFixture();
  const id = await fixture.create([
    {
      type: 'SignRule',
      step: 1,
      ruleName: 'Any director',
      numberRequiredSignatures: 1,
      allowElectronicSignature: true,
      signRuleUsers: [person('Dora'), person('Emil')],
    },
  ]);
  await fixture.sign(id, 'emil@example.org');
  await fixture.until(id, ({ status }) => status === 'Concluded');
  const { signers } = await fixture.portal.validation.byDocument(fixture.tenant, id);
  t.deepEqual(
    signers.map(({ subjectName, emailAddress, isElectronic }) => [subjectName, emailAddress, isElectronic]),
    [['Emil', 'emil@example.org', true]],
  );
});

test('a signature that the file had before is reported beside those of the document, and is not taken for one of them', async (t) => {
  const fixture = await openFixture();
  const before = sign(put(contract()), pki().signer('p-256')).output;
  const { id } = await signedByAna(fixture, 'signed-before.pdf', readFileSync(before));
  const { signers } = await fixture.portal.validation.byDocument(fixture.tenant, id);
  t.deepEqual(
    signers.map(({ isElectronic, evidences }) => [isElectronic, evidences === null]),
    [
      [false, true],
      [true, false],
    ],
  );
  t.true(signers.every(({ validationResults }) => validationResults.isValid));
  const unsigned = await fixture.create([signer('Ana')], {
    files: [await fixture.file('signed-before.pdf', readFileSync(before))],
  });
  const imported = await fixture.portal.validation.byDocument(fixture.tenant, unsigned);
  t.deepEqual(
    imported.signers.map(({ isElectronic, validationResults }) => [isElectronic, validationResults.isValid]),
    [[false, true]],
  );
  t.regex(await fixture.portal.validation.reportOf(fixture.tenant, unsigned), /ValidationReport/);
});

test('a signature of an unknown signer is intact, and not trusted', async (t) => {
  const fixture = await openFixture();
  const { certificate, key, caCertificate } = await makeDevelopmentCertificates({
    label: 'Strangers',
    now: Date.now(),
    random: randomBytes,
  });
  const unknownSigner = testSigner(createPrivateKey(key), new X509Certificate(certificate).raw, [
    new X509Certificate(caCertificate).raw,
  ]);
  const known = sign(put(contract()), pki().signer('p-256')).output;
  const unknown = sign(put(contract()), unknownSigner).output;
  const [good] = await ofUpload(fixture, readFileSync(known), 'application/pdf');
  const [bad] = await ofUpload(fixture, readFileSync(unknown), 'application/pdf');
  t.true(good?.validationResults.isValid);
  t.false(bad?.validationResults.isValid);
  t.deepEqual(
    bad?.validationResults.errors.map(({ type }) => type),
    ['chain'],
  );
  t.regex(bad?.subjectName ?? '', /Strangers/);
});
