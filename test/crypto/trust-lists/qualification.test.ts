import { createPublicKey, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { verdictText } from '#crypto/command-line/verify-text.js';
import { MemoryOutput } from '#crypto/core/types.js';
import { signFile } from '#crypto/files/sign-file.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { unmetDemand } from '#crypto/qualification/demand.js';
import {
  listedAnchors,
  qualifySigner,
  qualifyTimestamp,
  wordOf,
} from '#crypto/qualification/signature-qualification.js';
import { readTrustedList } from '#crypto/qualification/trusted-list.js';
import { readListFolder } from '#crypto/trust-lists/list-folder.js';
import { validationReportXml } from '#crypto/validation/validation-report-xml.js';
import { certificatePem, readCertificate } from '#crypto/x509/certificate.js';
import { issueCertificate } from '../../pki/issuing.ts';
import { keyOf, type TestSigner } from '../../pki/pki.ts';
import {
  AT,
  type Authority,
  authorityOf,
  type EntryText,
  JOURNAL,
  LOCATION,
  listSigner,
  listText,
  lotlText,
  providerText,
  type Statement,
  signList,
  TSA_QTST,
  timestampUnit,
} from './own-lists.ts';

const authority = authorityOf('BE');
const QUALIFIED: readonly Statement[] = ['compliance', 'signature', 'device'];

interface Situation {
  readonly statements?: readonly Statement[];
  readonly entries?: readonly EntryText[];
  readonly providers?: string;
  readonly notBefore?: number;
  readonly signer?: TestSigner;
  readonly policies?: readonly string[];
  readonly issuer?: Authority;
  /** Time of signing that is taken as proven. @default AT */
  readonly at?: number;
  readonly nextUpdate?: number | 'closed';
}

async function qualify(situation: Situation) {
  const { statements = QUALIFIED, entries = [{}], issuer = authority, at = AT } = situation;
  const { notBefore = AT - 90 * 86_400_000, policies, nextUpdate } = situation;
  const { providers = providerText(issuer.certificate, entries) } = situation;
  const signer = situation.signer ?? issuer.issue(statements, { notBefore, ...(policies && { policies }) });
  const output = new MemoryOutput();
  signFile({ format: 'Xades', input: Buffer.from('<order/>'), output, signer, at });
  const list = readTrustedList(Buffer.from(listText({ providers, ...(nextUpdate && { nextUpdate }) })));
  const trust = {
    anchors: [],
    revocation: 'none',
    lists: { listOf: (territory: string) => (territory === 'BE' ? list : undefined) },
  } as const;
  const report = await validateFile({ format: 'Xades', path: output.bytes, trust, at });
  const [signature] = report.signatures;
  return { report, indication: report.indication, ...signature?.qualification };
}

const criteria = (assert: string, inner: string) =>
  `<q:CriteriaList assert="${assert}">${inner}</q:CriteriaList>`;
const bit = (name: string, value: boolean) =>
  `<q:KeyUsage><q:KeyUsageBit name="${name}">${value}</q:KeyUsageBit></q:KeyUsage>`;
const policy = (id: string) =>
  `<q:PolicySet><q:PolicyIdentifier><a:Identifier>${id}</a:Identifier></q:PolicyIdentifier></q:PolicySet>`;
const other = (inner: string) => `<q:otherCriteriaList>${inner}</q:otherCriteriaList>`;
const statementSet = (id: string) =>
  other(
    `<x:QcStatementSet><x:QcStatement><x:QcStatementId><a:Identifier>${id}</a:Identifier></x:QcStatementId></x:QcStatement></x:QcStatementSet>`,
  );
const DEVICE_BY = (text: string): Situation => ({
  statements: ['compliance', 'signature'],
  entries: [{ qualifiers: ['QCWithQSCD'], criteria: text }],
});
const BEFORE = Date.UTC(2015, 0, 1);
const OLD: Situation = { at: Date.UTC(2016, 0, 1), notBefore: BEFORE };

const SUB = authorityOf('BE', 'Provider', 'Crowded', { parent: authority, isCa: true });
const OTHERS = authorityOf('FR', 'Else', 'Else');
const CROWDED: Situation = {
  signer: crowded(SUB.issue(QUALIFIED), () =>
    issueCertificate({
      subject: SUB.name,
      issuer: OTHERS.name,
      publicKey: createPublicKey(SUB.key),
      issuerKey: OTHERS.key,
      serial: randomBytes(8),
      notBefore: BEFORE,
      notAfter: AT + 86_400_000,
      use: { kind: 'ca' },
    }),
  ),
};

function crowded(signer: TestSigner, more: () => Buffer): TestSigner {
  return { ...signer, chain: [...Array.from({ length: 70 }, more), ...signer.chain] };
}

/** Situation by name; the word that it must give. */
const SITUATIONS: { readonly [name: string]: readonly [Situation, string] } = {
  'qualified with a device': [{}, 'QESig'],
  'qualified without a device': [{ statements: ['compliance', 'signature'] }, 'AdESig-QC'],
  'a seal': [
    { statements: ['compliance', 'seal', 'device'], entries: [{ information: ['ForeSeals'] }] },
    'QESeal',
  ],
  'a seal without a device': [
    { statements: ['compliance', 'seal'], entries: [{ information: ['ForeSeals'] }] },
    'AdESeal-QC',
  ],
  'a seal of a service for signatures': [{ statements: ['compliance', 'seal', 'device'] }, 'AdESeal'],
  'several stated uses': [
    {
      statements: ['compliance', 'both', 'device'],
      entries: [{ information: ['ForeSignatures', 'ForeSeals'] }],
    },
    'Unknown',
  ],
  'compliance alone is for signatures': [
    { statements: ['compliance', 'device'], entries: [{ information: ['ForeSignatures', 'ForeSeals'] }] },
    'QESig',
  ],
  'no statement of compliance': [{ statements: ['signature', 'device'] }, 'AdESig'],
  'compliance by the list': [
    { statements: ['signature', 'device'], entries: [{ qualifiers: ['QCStatement'] }] },
    'QESig',
  ],
  'use by the list': [
    { statements: ['compliance', 'both', 'device'], entries: [{ qualifiers: ['QCForESig'] }] },
    'QESig',
  ],
  'another use by the list': [{ entries: [{ qualifiers: ['QCForESeal'] }] }, 'Unknown'],
  'a legal person by the list': [{ entries: [{ qualifiers: ['QCForLegalPerson'] }] }, 'Unknown'],
  'not qualified by the list': [{ entries: [{ qualifiers: ['NotQualified'] }] }, 'AdESig'],
  'both by the list': [{ entries: [{ qualifiers: ['NotQualified', 'QCStatement'] }] }, 'Unknown'],
  'the law of another country': [{ statements: [...QUALIFIED, 'ofUtopia'] }, 'AdESig'],
  'device by the list': [
    { statements: ['compliance', 'signature'], entries: [{ qualifiers: ['QCWithQSCD'] }] },
    'QESig',
  ],
  'device managed on behalf': [
    { statements: ['compliance', 'signature'], entries: [{ qualifiers: ['QCQSCDManagedOnBehalf'] }] },
    'QESig',
  ],
  'no device by the list': [{ entries: [{ qualifiers: ['QCNoQSCD'] }] }, 'AdESig-QC'],
  'device as stated': [{ entries: [{ qualifiers: ['QCQSCDStatusAsInCert'] }] }, 'QESig'],
  'device as stated and by the list': [
    { entries: [{ qualifiers: ['QCQSCDStatusAsInCert', 'QCWithQSCD'] }] },
    'AdESig-QC',
  ],
  'device and none': [{ entries: [{ qualifiers: ['QCWithQSCD', 'QCNoQSCD'] }] }, 'AdESig-QC'],
  'device of the directive alone': [{ entries: [{ qualifiers: ['QCWithSSCD'] }] }, 'AdESig-QC'],
  'an unknown qualifier': [{ entries: [{ qualifiers: ['QCNew'] }] }, 'QESig'],
  'an unknown qualifier in a critical extension': [
    { entries: [{ qualifiers: ['QCNew'], isCritical: true }] },
    'Unknown',
  ],
  'an unknown critical extension': [
    { entries: [{ extension: '<Extension Critical="true"><x:New/></Extension>' }] },
    'Unknown',
  ],
  'an unknown other extension': [
    { entries: [{ extension: '<Extension Critical="false"><x:New/></Extension>' }] },
    'QESig',
  ],
  'an unknown criterion': [
    { entries: [{ qualifiers: ['QCNoQSCD'], criteria: criteria('all', '<q:New/>') }] },
    'Unknown',
  ],
  'withdrawn since': [
    { entries: [{ status: 'withdrawn', since: new Date(AT - 1000).toISOString() }, {}] },
    'AdESig',
  ],
  'withdrawn a second later': [
    { entries: [{ status: 'withdrawn', since: new Date(AT + 1000).toISOString() }, {}] },
    'QESig',
  ],
  'withdrawn at the issuance': [
    { entries: [{ since: '2026-05-01T00:00:00Z' }, { status: 'withdrawn' }] },
    'AdESig',
  ],
  'no entry at the issuance': [{ entries: [{ since: '2026-05-01T00:00:00Z' }] }, 'AdESig'],
  'a state that decides nothing': [{ entries: [{ status: 'recognisedatnationallevel' }] }, 'Unknown'],
  'another type of service': [
    { entries: [{ type: 'http://uri.etsi.org/TrstSvc/Svctype/CA/PKC' }] },
    'AdESig',
  ],
  'device since the issuance': [
    {
      statements: ['compliance', 'signature'],
      entries: [{ qualifiers: ['QCWithQSCD'], since: '2026-05-01T00:00:00Z' }, {}],
    },
    'QESig',
  ],
  'device at the issuance alone': [
    {
      statements: ['compliance', 'signature'],
      entries: [{ since: '2026-05-01T00:00:00Z' }, { qualifiers: ['QCWithQSCD'] }],
    },
    'AdESig-QC',
  ],
  'a history out of order': [{ entries: [{}, { since: '2018-01-01T00:00:00Z' }] }, 'Unknown'],
  'two providers': [
    { providers: providerText(authority.certificate) + providerText(authority.certificate, [{}], 'Other') },
    'Unknown',
  ],
  'another name of the provider': [
    { providers: providerText(authority.certificate, [{}], 'Other') },
    'Unknown',
  ],
  'the name of a service with another key': [
    { issuer: authorityOf('BE'), providers: providerText(authority.certificate) },
    'AdESig',
  ],
  'an authority that is not listed': [
    { issuer: authorityOf('BE', 'Provider', 'Another'), providers: providerText(authority.certificate) },
    'AdESig',
  ],
  'an authority that is no authority': [
    {
      issuer: authorityOf('BE', '', 'A signer', { parent: authority }),
      providers: providerText(authority.certificate),
    },
    'AdESig',
  ],
  'an authority below the listed one': [
    {
      issuer: authorityOf('BE', 'Provider', 'Sub', { parent: authority, isCa: true }),
      providers: providerText(authority.certificate),
    },
    'QESig',
  ],
  'an authority below the listed one, without a provider': [
    {
      issuer: authorityOf('BE', '', 'Sub', { parent: authority, isCa: true }),
      providers: providerText(authority.certificate),
    },
    'Unknown',
  ],
  'a listed authority without a provider': [{ issuer: authorityOf('BE', '') }, 'QESig'],
  'many certificates of an authority that others made': [
    { ...CROWDED, providers: providerText(authority.certificate) },
    'QESig',
  ],
  'a service for time-stamps of another provider with the same key': [
    {
      providers:
        providerText(authority.certificate) +
        providerText(authority.certificate, [{ type: TSA_QTST }], 'Other'),
    },
    'QESig',
  ],
  'a country without list': [{ issuer: authorityOf('FR') }, 'Unknown'],
  'under the directive': [
    {
      ...OLD,
      statements: ['compliance', 'device'],
      entries: [{}, { status: 'undersupervision', since: '2013-01-01T00:00:00Z' }],
    },
    'QESig',
  ],
  'under the directive, accredited': [
    {
      ...OLD,
      statements: ['compliance'],
      entries: [{}, { status: 'accredited', since: '2013-01-01T00:00:00Z' }],
    },
    'AdESig-QC',
  ],
  'under the directive by policy': [
    {
      ...OLD,
      statements: [],
      policies: ['0.4.0.1456.1.1'],
      entries: [{}, { status: 'supervisionincessation', since: '2013-01-01T00:00:00Z' }],
    },
    'QESig',
  ],
  'under the directive, ended': [
    {
      ...OLD,
      statements: ['compliance'],
      entries: [{}, { status: 'supervisionceased', since: '2013-01-01T00:00:00Z' }],
    },
    'AdESig',
  ],
  'granted before there was such a state': [
    { ...OLD, statements: ['compliance'], entries: [{ since: '2013-01-01T00:00:00Z' }] },
    'Unknown',
  ],
  'a criterion of a bit': [
    DEVICE_BY(criteria('all', bit('nonRepudiation', true) + bit('keyCertSign', false))),
    'QESig',
  ],
  'a bit that must not be set': [DEVICE_BY(criteria('all', bit('nonRepudiation', false))), 'AdESig-QC'],
  'a policy of a set': [
    { ...DEVICE_BY(criteria('atLeastOne', policy('1.2.3') + policy('1.2.4'))), policies: ['1.2.4'] },
    'QESig',
  ],
  'no policy of a set': [
    { ...DEVICE_BY(criteria('atLeastOne', policy('1.2.3'))), policies: ['1.2.4'] },
    'AdESig-QC',
  ],
  'none of the criteria': [DEVICE_BY(criteria('none', policy('1.2.3') + bit('keyCertSign', true))), 'QESig'],
  'nested criteria': [
    DEVICE_BY(criteria('all', criteria('none', bit('keyCertSign', true)) + bit('nonRepudiation', true))),
    'QESig',
  ],
  'a statement as criterion': [DEVICE_BY(criteria('all', statementSet('0.4.0.1862.1.1'))), 'QESig'],
  'a statement that is not made': [DEVICE_BY(criteria('all', statementSet('0.4.0.1862.1.5'))), 'AdESig-QC'],
  'an attribute of the subject': [
    DEVICE_BY(
      criteria(
        'all',
        other(
          '<x:CertSubjectDNAttribute><x:AttributeOID><a:Identifier>urn:oid:2.5.4.3</a:Identifier></x:AttributeOID></x:CertSubjectDNAttribute>',
        ),
      ),
    ),
    'QESig',
  ],
  'a purpose that is absent': [
    DEVICE_BY(
      criteria(
        'all',
        other(
          '<x:ExtendedKeyUsage><x:KeyPurposeId><a:Identifier>1.2.3</a:Identifier></x:KeyPurposeId></x:ExtendedKeyUsage>',
        ),
      ),
    ),
    'AdESig-QC',
  ],
  'an unknown criterion beside one that is not met': [
    DEVICE_BY(criteria('all', `<q:New/>${bit('keyCertSign', true)}`)),
    'AdESig-QC',
  ],
};

for (const [name, [situation, word]] of Object.entries(SITUATIONS)) {
  test(`${name}: ${word}`, async (t) => {
    const found = await qualify(situation);
    t.is(found.word, word as never, JSON.stringify(found.reasons));
  });
}

test('a listed service is trusted while it is in good standing, and no longer', async (t) => {
  t.is((await qualify({})).indication, 'TOTAL-PASSED');
  const withdrawn = await qualify({
    entries: [{ status: 'withdrawn', since: new Date(AT - 1000).toISOString() }, {}],
  });
  t.like(withdrawn, { indication: 'INDETERMINATE', isIndeterminate: true });
  t.is(
    (await qualify({ entries: [{ type: 'http://uri.etsi.org/TrstSvc/Svctype/CA/PKC' }] })).indication,
    'INDETERMINATE',
  );
});

test('a service is an anchor only for what its list says that it issues, and when that is understood', async (t) => {
  for (const entry of [
    { information: [] },
    { information: ['ForWebSiteAuthentication'] },
    { extension: '<Extension Critical="true"><x:New/></Extension>' },
  ])
    t.is((await qualify({ entries: [entry] })).indication, 'INDETERMINATE', JSON.stringify(entry));
  const statements = ['compliance', 'seal', 'device'] as const;
  t.is((await qualify({ statements, entries: [{ information: ['ForeSeals'] }] })).indication, 'TOTAL-PASSED');
});

test('each verdict says that its list ended, is closed or is newer', async (t) => {
  const ended = await qualify({ nextUpdate: AT - 1000 });
  t.like(ended, { word: 'QESig', list: { sequence: 7, issued: AT - 86_400_000 } });
  t.deepEqual(ended.reasons, ['The list of BE ended on 2026-05-31.']);
  t.deepEqual((await qualify({ nextUpdate: 'closed' })).reasons, ['The list of BE is closed.']);
  t.deepEqual((await qualify({ at: AT - 2 * 86_400_000 })).reasons, [
    'The list of BE is of 2026-05-31, newer than the time of validation.',
  ]);
  const xml = validationReportXml(ended.report, { name: 'order.xml', sha256: '00', at: AT });
  t.regex(
    xml,
    /<ReportData><Type>urn:sealwright:check:qualification<\/Type><Value>QESig \(list 7 of 2026-05-31/,
  );
  t.regex(xml, /<Value>The list of BE ended on 2026-05-31\.<\/Value>/);
  const verdict = { file: 'a.xml', format: 'Xades', ok: true, report: ended.report, error: null } as const;
  const options = { json: false, format: undefined, trust: [], intermediates: [], content: undefined };
  const more = { chain: true, revocation: 'none', at: AT, trustLists: 'lists' } as const;
  const own = { roots: [], intermediates: [], names: ['two roots'] };
  const screen = { out: () => {}, err: () => {}, colors: false };
  const text = verdictText(verdict, { ...options, ...more, own }, screen);
  t.regex(
    text,
    /EU status {3}QESig \(Service, Provider, BE, list 7 of 2026-05-31\)\n *The list of BE ended on/,
  );
  t.regex(text, /no --trust given: trusted: two roots, services of the trusted lists/);
});

test('a name of a country that is none has no list', async (t) => {
  const { word, reasons } = await qualify({ issuer: authorityOf('XYZ') });
  t.is(word, 'Unknown');
  t.deepEqual(reasons, ['The issuer of the certificate names no country.']);
});

test('services are undetermined where there are too many authorities to try', async (t) => {
  const signer = authorityOf('BE', 'Provider', 'Sub', { parent: authority, isCa: true }).issue(QUALIFIED);
  const { name, key } = authorityOf('BE', 'Provider', 'Sub');
  const strangers = Array.from({ length: 300 }, () =>
    issueCertificate({
      subject: name,
      issuer: name,
      publicKey: keyOf('p-256').publicKey,
      issuerKey: key,
      serial: randomBytes(8),
      notBefore: BEFORE,
      notAfter: AT + 86_400_000,
      use: { kind: 'ca' },
    }),
  );
  const found = await qualify({
    signer: { ...signer, chain: [...strangers, ...signer.chain] },
    providers: providerText(authority.certificate),
  });
  t.like(found, { word: 'Unknown', reasons: ['There are too many certificates to try.'] });
});

test('a folder of lists serves validation without network, and says what is wrong with one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-lists-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const signer = listSigner('folder');
  const pointers = [
    { territory: 'BE', signers: [signer] },
    { territory: 'FR', signers: [signer] },
  ];
  writeFileSync(join(folder, 'journal.pem'), certificatePem(signer.certificate));
  writeFileSync(join(folder, 'eu-lotl.xml'), signList(lotlText([signer], { pointers }), signer));
  const belgian = signList(listText({ providers: providerText(authority.certificate) }), signer);
  writeFileSync(join(folder, 'BE.xml'), belgian);
  writeFileSync(join(folder, 'fr.xml'), belgian);
  const request = { folder, anchors: folder, journal: JOURNAL, location: LOCATION, at: AT };
  const lists = readListFolder(request);
  t.is(lists.listOf('BE')?.territory, 'BE');
  t.is(lists.listOf('FR'), undefined);
  t.deepEqual(lists.problems, ['The list of FR is that of BE, not of FR.']);
  t.is(lists.listOf('XX'), undefined);
  t.throws(() => readListFolder({ ...request, journal: 'https://journal.test/other' }), {
    code: 'request.invalid',
  });
  t.throws(() => readListFolder({ folder, at: AT }), { code: 'request.invalid' });
  t.throws(() => readListFolder({ ...request, folder: join(folder, 'missing') }), {
    code: 'request.invalid',
  });
  const late = readListFolder({ ...request, at: AT + 89 * 86_400_000 });
  t.is(late.listOf('BE')?.territory, 'BE');
  t.throws(() => readListFolder({ ...request, at: AT - 5 * 86_400_000 }), {
    message: /newer than the time of validation/,
  });
  // What is no file, or too long, is not read; the other name is tried.
  const named = { territory: 'BE', signers: [signer], location: 'https://lists.test/tsl.xml' };
  const other = signList(lotlText([signer], { pointers: [named, ...pointers.slice(1)] }), signer);
  writeFileSync(join(folder, 'eu-lotl.xml'), other);
  mkdirSync(join(folder, 'tsl.xml'));
  const both = readListFolder(request);
  t.is(both.listOf('BE')?.territory, 'BE');
  t.deepEqual(both.problems, []);
  writeFileSync(join(folder, 'fr.xml'), '');
  truncateSync(join(folder, 'fr.xml'), 2 ** 24 + 1);
  const long = readListFolder(request);
  t.is(long.listOf('FR'), undefined);
  t.deepEqual(long.problems, ['The list of FR has more than 16777216 bytes.']);
  mkdirSync(join(folder, 'certificate.pem'));
  t.throws(() => readListFolder(request), { code: 'request.invalid', message: /a file in it is no file/ });
});

test('the word stands in the report of ETSI TS 119 102-2', async (t) => {
  const { report } = await qualify({});
  const xml = validationReportXml(report, { name: 'order.xml', sha256: '00', at: AT });
  t.regex(xml, /<SignatureQuality><SignatureQualityInformation>urn:sealwright:qualification:QESig</);
});

const USES = ['signature', 'seal', 'web', 'none', 'undetermined'] as const;
const DEVICES = ['yes', 'no', 'undetermined'] as const;
const STATED = ['signature', 'seal', 'web', undefined] as const;

/** The word of a certificate that is not qualified, by the use it states. */
const UNQUALIFIED = { signature: 'AdESig', seal: 'AdESeal', web: 'AdES' } as const;

test('every combination of use, device and stated use has its word', (t) => {
  for (const qualified of USES)
    for (const device of DEVICES)
      for (const stated of STATED) {
        const word = wordOf(qualified, device, stated);
        const sure = device === 'yes';
        if (qualified === 'undetermined') t.is(word, 'Unknown');
        else if (qualified === 'signature') t.is(word, sure ? 'QESig' : 'AdESig-QC');
        else if (qualified === 'seal') t.is(word, sure ? 'QESeal' : 'AdESeal-QC');
        else t.is(word, stated === undefined ? 'AdES' : UNQUALIFIED[stated]);
      }
});

const unit = timestampUnit('BE', 'Provider');
const LATER = AT + 10 * 86_400_000;
const WITHDRAWN = { type: TSA_QTST, status: 'withdrawn', since: '2026-06-05T00:00:00Z' };

/** Entries of the service, name of its provider and time of the stamp; the word that it must have. */
const STAMPS: { readonly [name: string]: readonly [readonly EntryText[], string, number, string] } = {
  'of a granted service': [[{ type: TSA_QTST }], 'Provider', AT, 'QTSA'],
  'of a service that was withdrawn since': [[WITHDRAWN, { type: TSA_QTST }], 'Provider', AT, 'TSA'],
  'before the service was granted': [
    [{ type: TSA_QTST, since: '2026-06-05T00:00:00Z' }],
    'Provider',
    AT,
    'TSA',
  ],
  'of a service of another type': [[{}], 'Provider', AT, 'TSA'],
  'of another provider': [[{ type: TSA_QTST }], 'Other', AT, 'TSA'],
  'before the regulation': [
    [{ type: TSA_QTST, since: '2013-01-01T00:00:00Z' }],
    'Provider',
    Date.UTC(2016, 5, 1),
    'TSA',
  ],
};

for (const [name, [entries, provider, time, word]] of Object.entries(STAMPS)) {
  test(`a time-stamp ${name}: ${word}`, (t) => {
    const list = readTrustedList(Buffer.from(listText({ providers: providerText(unit, entries, provider) })));
    const lists = { listOf: () => list };
    const request = { lists, certificate: readCertificate(unit), others: [], time, now: LATER };
    t.is(qualifyTimestamp(request, 'TOTAL-PASSED').word, word as never);
  });
}

test('services for time-stamps are trusted for time-stamps alone', (t) => {
  const list = readTrustedList(
    Buffer.from(listText({ providers: providerText(unit, [{ type: TSA_QTST }]) })),
  );
  const known = { lists: { listOf: () => list }, certificate: readCertificate(unit), others: [] };
  t.is(listedAnchors({ ...known, times: [AT] }, 'timestamp').length, 1);
  t.is(listedAnchors({ ...known, times: [AT] }, 'signature').length, 0);
  const unlisted = { ...known, lists: { listOf: () => undefined }, time: AT, now: AT };
  t.is(qualifyTimestamp(unlisted, 'TOTAL-PASSED').word, 'Unknown');
  t.like(qualifyTimestamp({ ...known, time: AT, now: AT }, 'INDETERMINATE'), {
    word: 'QTSA',
    isIndeterminate: true,
  });
});

test('one service must have been granted when a time-stamp was made and when it is judged', (t) => {
  const until = providerText(unit, [{ ...WITHDRAWN }, { type: TSA_QTST }]);
  const since = providerText(unit, [{ type: TSA_QTST, since: '2026-06-05T00:00:00Z' }]);
  const list = readTrustedList(Buffer.from(listText({ providers: until + since })));
  const known = { lists: { listOf: () => list }, certificate: readCertificate(unit), others: [] };
  t.is(qualifyTimestamp({ ...known, time: AT, now: LATER }, 'TOTAL-PASSED').word, 'TSA');
  t.is(listedAnchors({ ...known, times: [AT, LATER] }, 'timestamp').length, 0);
  t.is(listedAnchors({ ...known, times: [AT, AT] }, 'timestamp').length, 1);
  t.is(listedAnchors({ ...known, times: [LATER] }, 'timestamp').length, 1);
});

test('after the end of the list of lists no answer is for certain, and none reaches a demand', (t) => {
  const endsAt = AT + 10 * 86_400_000;
  const list = readTrustedList(
    Buffer.from(
      listText({ providers: providerText(authority.certificate) + providerText(unit, [{ type: TSA_QTST }]) }),
    ),
  );
  const lists = { listOf: () => list, endsAt };
  const { certificate, chain } = authority.issue(QUALIFIED);
  for (const [at, isIndeterminate] of [
    [endsAt, false],
    [endsAt + 1, true],
  ] as const) {
    const found = qualifySigner(certificate, chain, { lists, at });
    t.like(found, { word: 'QESig', isIndeterminate });
    t.is(unmetDemand('QESig', found) === undefined, !isIndeterminate);
    t.is(found.reasons.join().includes('list of lists was to be renewed by 2026-06-11'), isIndeterminate);
    const stamp = { lists, certificate: readCertificate(unit), others: [], time: AT, now: at };
    t.like(qualifyTimestamp(stamp, 'TOTAL-PASSED'), { word: 'QTSA', isIndeterminate });
  }
});
