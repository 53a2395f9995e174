#!/usr/bin/env node
/**
 * Runs the acceptance table of the European trusted lists against data that others publish, and prints each verdict:
 *
 *   node scripts/measure/trust-lists.mjs <pyHanko checkout> <dss checkout> <libdigidocpp checkout>
 *
 * The checkouts stay outside of the repository. A checkout that is not given is left out.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const PARTS = process.env.SEALWRIGHT_ENGINE ?? '../../crypto/dist';
const part = (name) => import(`${PARTS}/${name}.js`);
const [{ authenticate }, { readListOfLists, readNationalList, nationalPointers }, { readTrustedList }] =
  await Promise.all([
    part('trust-lists/authenticity'),
    part('trust-lists/list-of-lists'),
    part('qualification/trusted-list'),
  ]);
const { certificatesIn, fingerprintOf } = await part('x509/certificate');
const { qualifyCertificate } = await part('qualification/certificate-qualification');
const { wordOf } = await part('qualification/signature-qualification');
const { inspectXadesDocument } = await part('xades/validate');
const { validateFile } = await part('files/validate-file');

const [pyhanko, dss, digidoc] = process.argv.slice(2);
const counts = new Map();
const tell = (group, name, isRight, text) => {
  const count = counts.get(group) ?? { right: 0, all: 0 };
  counts.set(group, { right: count.right + (isRight ? 1 : 0), all: count.all + 1 });
  console.log(`${isRight ? 'ok   ' : 'WRONG'} ${group}  ${name}  ${text}`);
};
const tried = (run) => {
  try {
    return { value: run() };
  } catch (error) {
    return { error: error.message };
  }
};
const setOf = (file) => new Set(certificatesIn(readFileSync(file)).map(fingerprintOf));
const OJ_2019 = 'https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=uriserv:OJ.C_.2019.276.01.0001.01.ENG';
const OJ_2026 = 'https://eur-lex.europa.eu/eli/C/2026/1944/oj';
const EU = 'https://ec.europa.eu/tools/lotl/eu-lotl.xml';
/** A day on which every list of the data was signed. */
const NOW = Date.UTC(2026, 10, 30);
/** Minutes after the Estonian container was signed: what proves its time rests on SHA-1, so later its certificate counts as expired. */
const SIGNED = Date.UTC(2016, 10, 28, 14);
/** The signer that a list itself names, as an anchor. */
const ownSigner = (bytes) =>
  new Set(inspectXadesDocument(bytes).signatures.flatMap((one) => one.certificate?.fingerprint ?? []));

const resources = (root) => join(root, 'dss-tsl-validation/src/test/resources');
const BROKEN =
  /broken-sig|no-sig|altered|not-pars|not-conform|not-compliant|non-compliant|two-sigs|empty|missing-pivot|no-[a-z-]*-information|no-tl-version|duplicated|minimal|fr-65-docusign/;
const TOLERATED = /with-bom|with-spaces|xml-directive-removed/;

/** Situations of a validator's diagnostic data, and its words in the order of its names. */
const WORDS = {
  'granted-tsp': 'QESig',
  'granted-tsp-with-qualifier': 'QESig',
  'granted-tsp-with-unknown-qualifier': 'QESig',
  'granted-tsp-qscd-overrule': 'QESig',
  'granted-tsp-sscd-overrule': 'AdESig-QC',
  'granted-tsp-sscd-and-qscd-overrule': 'QESig',
  'qscd-with-no-sscd-overrule': 'AdESig-QC',
  'granted-tsp-qscd-overrule-conflict': 'AdESig-QC',
  'granted-tsp-managedonbehalf-and-qscd-overrule-conflict': 'QESig',
  'granted-tsp-managedonbehalf-and-noqscd-overrule-conflict': 'AdESig-QC',
  'granted-tsp-statusasincert-and-qscd-overrule-conflict': 'AdESig-QC',
  'withdrawn-at-toi-granted-at-tos': 'AdESig',
  'granted-at-toi-withdrawn-at-tos': 'AdESig',
  'esig-at-toi-eseal-at-tos': 'Unknown',
  'noqscd-at-toi-qscd-at-tos': 'QESig',
  'qscd-at-toi-noqscd-at-tos': 'AdESig-QC',
  'post-eidas-qc-types-conflict': 'Unknown',
  'post-eidas-no-qc-types-conflict': 'AdES',
  'post-eidas-no-qc-compliance-for-esig': 'Unknown',
  'post-eidas-no-qc-compliance-for-esig-sscd': 'Unknown',
  'inconsistent-tl-by-type': 'Unknown',
};

if (pyhanko) walks(pyhanko);
if (dss) {
  nationalLists(dss);
  brokenLists(dss);
  testJournal(dss);
  situations(dss);
}
if (digidoc) await estonianStates(digidoc);
for (const [group, { right, all }] of counts) console.log(`${group}: ${right}/${all}`);

/** LOTL 369 from the journal of 2019 over four pivots, LOTL 388 from that of 2026, and refusals. */
function walks(root) {
  const data = join(root, 'internal/common-test-utils/src/pyhanko_testing_commons/test_data/data/tl');
  const sets = join(root, 'pkgs/pyhanko/src/pyhanko/sign/validation/qualified/lotl-certs');
  const at = (name) => readFileSync(join(data, name));
  const pivot = (uri) => (existsSync(join(data, basename(uri))) ? at(basename(uri)) : undefined);
  const older = setOf(join(sets, 'bootstrap-0.cert.pem'));
  const newer = setOf(join(sets, 'latest.cert.pem'));
  const walk = (name, { journal, signers }, day, from = pivot) =>
    tried(() =>
      readListOfLists({
        anchor: { location: EU, journal, signers },
        document: at(name),
        pivot: from,
        at: Date.parse(day),
      }),
    );
  const cases = [
    [
      'LOTL 369 over 4 pivots',
      walk('eu-lotl-old.xml', { journal: OJ_2019, signers: older }, '2025-12-01'),
      true,
    ],
    ['LOTL 388', walk('eu-lotl.xml', { journal: OJ_2026, signers: newer }, '2026-11-01'), true],
    [
      'LOTL 388 past its update',
      walk('eu-lotl.xml', { journal: OJ_2026, signers: newer }, '2026-11-30'),
      false,
    ],
    [
      'LOTL 388 from the older journal',
      walk('eu-lotl.xml', { journal: OJ_2019, signers: older }, '2026-11-01'),
      false,
    ],
    [
      'LOTL 369 without a pivot',
      walk('eu-lotl-old.xml', { journal: OJ_2019, signers: older }, '2025-12-01', (uri) =>
        uri.includes('300') ? undefined : pivot(uri),
      ),
      false,
    ],
    [
      'LOTL 369 with a pivot for another',
      walk('eu-lotl-old.xml', { journal: OJ_2019, signers: older }, '2025-12-01', (uri) =>
        pivot(uri.replace('335', '341')),
      ),
      false,
    ],
  ];
  for (const [name, { value, error }, isGood] of cases)
    tell(
      'walk',
      name,
      (value !== undefined) === isGood,
      error ?? `authentic, ${value.pointers.length} pointers`,
    );
  const signed = [
    'eu-lotl-pivot-282.xml',
    'eu-lotl-pivot-300.xml',
    'eu-lotl-pivot-335.xml',
    'eu-lotl-pivot-341.xml',
  ];
  for (const name of [...signed, 'eu-lotl-old.xml', 'eu-lotl.xml']) {
    const { error } = tried(() => authenticate(at(name), ownSigner(at(name)), NOW));
    tell('walk', `${name} alone`, error === undefined, error ?? 'authentic');
  }
  const lotl = readTrustedList(at('eu-lotl.xml'));
  for (const [territory, name] of [
    ['BE', 'tsl-be-v6.xml'],
    ['EE', 'tsl-ee.xml'],
  ]) {
    const pointer = nationalPointers(lotl).find((one) => one.territory === territory);
    const { value, error } = tried(() => readNationalList(at(name), pointer, NOW));
    tell('walk', name, value !== undefined, error ?? `version ${value.version}, sequence ${value.sequence}`);
  }
}

/** One container and lists that differ in the states of its authority, its responder and its time-stamp service. */
async function estonianStates(root) {
  const data = join(root, 'test/data');
  const names = /foreach\(TEST([^)]*)\)/g;
  const [bad, good] = [...readFileSync(join(root, 'test/CMakeLists.txt'), 'utf8').matchAll(names)].map(
    ([, found]) => found.trim().split(/\s+/),
  );
  for (const name of [...bad, ...good]) {
    const list = readTrustedList(
      // Territories have two letters.
      Buffer.from(readFileSync(join(data, `EE_T-${name}.xml`), 'utf8').replaceAll('>EE_T<', '>EE<')),
    );
    const lists = { listOf: (territory) => (territory === list.territory ? list : undefined) };
    const trust = { anchors: [], revocation: 'hard', lists };
    const path = join(data, 'tsl.asice');
    const { indication, signatures } = await validateFile({ format: 'Asic', path, trust, at: SIGNED });
    const { qualification, subIndication, timestamps, level, results } = signatures[0];
    // Certificates of that time are signed with SHA-1, so the verdict stays open, and nothing but that may be wrong.
    const isGood =
      qualification.word === 'QESig' &&
      timestamps.every((one) => one.qualification?.word === 'QTSA') &&
      checksIn(results, 'passedChecks').includes('revocation.good') &&
      checksIn(results, 'errors').every((type) =>
        ['chain', 'chain.algorithm', 'algorithm.strength'].includes(type),
      );
    const text = [indication, subIndication, level, qualification.word, ...qualification.reasons];
    tell(
      'states',
      name,
      isGood === good.includes(name),
      [
        ...text,
        ...new Set(checksIn(results, 'errors')),
        ...timestamps.map((one) => one.qualification?.word),
      ].join(' '),
    );
  }
}

/** Types of checks with an outcome, those inside of others too. */
function checksIn(results, outcome) {
  const inner = [...results.passedChecks, ...results.errors, ...results.warnings].flatMap((one) =>
    one.inner === undefined ? [] : checksIn(one.inner, outcome),
  );
  return [...results[outcome].map(({ type }) => type), ...inner];
}

/** National lists of 2019 with the pointers of their list of lists. */
function nationalLists(root) {
  const cache = join(resources(root), 'lotlCache');
  const lotl = readTrustedList(readFileSync(join(cache, 'EU.xml')));
  for (const pointer of nationalPointers(lotl)) {
    const file = join(cache, `${pointer.territory}.xml`);
    if (!existsSync(file) || readFileSync(file).length === 0) continue;
    const { value, error } = tried(() => readNationalList(readFileSync(file), pointer, NOW));
    tell(
      'national',
      pointer.territory,
      value !== undefined,
      error ?? `${value.providers.flatMap((one) => one.services).length} services`,
    );
  }
}

/** Lists that are broken: none may be authentic, even with its own signer as the anchor. */
function brokenLists(root) {
  const all = readdirSync(resources(root), { recursive: true }).filter((name) => name.endsWith('.xml'));
  for (const name of all) {
    if (!BROKEN.test(name) && !TOLERATED.test(name)) continue;
    const bytes = readFileSync(join(resources(root), name));
    const { error } = tried(() => {
      readTrustedList(bytes);
      authenticate(bytes, ownSigner(bytes), NOW);
    });
    const isGood = TOLERATED.test(name);
    tell(isGood ? 'tolerated' : 'broken', name, (error === undefined) === isGood, error ?? 'authentic');
  }
}

/** Lists of a test journal, whose second set makes a new beginning. */
function testJournal(root) {
  const folder = join(resources(root), 'pivots');
  const bytes = (name) => readFileSync(join(folder, name));
  const names = readdirSync(folder).filter((name) => name.endsWith('.xml'));
  const pivot = (uri) => (names.includes(basename(uri)) ? bytes(basename(uri)) : undefined);
  const at = Date.UTC(2024, 0, 1);
  const first = names.find((name) => name.endsWith('OJ_1_pivot_01.xml'));
  const locationOf = (name) =>
    readTrustedList(bytes(name)).pointers.find(({ type }) => type.endsWith('EUlistofthelists')).location;
  const signersOf = (name) => {
    const self = readTrustedList(bytes(name)).pointers.find(({ type }) => type.endsWith('EUlistofthelists'));
    return { signers: new Set([...self.signers.map(fingerprintOf), ...ownSigner(bytes(name))]) };
  };
  const one = signersOf(first);
  const two = signersOf('lotl_test_OJ_2_pivot_01.xml');
  const OJ_2023 = 'https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=uriserv:OJ.C_.2023.999.01.0001.01.ENG';
  const cases = [
    ['lotl_test_OJ_1_pivot_03.xml', OJ_2019, one, true],
    ['lotl_test_OJ_1_pivot_02.xml', OJ_2019, one, true],
    ['lotl_test_OJ-2_reset_pivot.xml', OJ_2023, two, true],
    ['lotl_test_OJ-2_reset_pivot.xml', OJ_2019, one, false],
    ['lotl_test_OJ-2_reset_pivot.xml', OJ_2023, one, false],
  ];
  for (const [name, journal, set, isGood] of cases) {
    const { error } = tried(() =>
      readListOfLists({
        anchor: { ...set, journal, location: locationOf(name) },
        document: bytes(name),
        pivot,
        at,
      }),
    );
    const label = `${name} by ${set === one ? 'set 1' : 'set 2'} and ${journal === OJ_2019 ? 'OJ 1' : 'OJ 2'}`;
    tell('test journal', label, (error === undefined) === isGood, error ?? 'authentic');
  }
}

function situations(root) {
  const folder = join(root, 'dss-validation/src/test/resources/diag-data/sig-qualification');
  for (const [name, expected] of Object.entries(WORDS)) {
    const text = readFileSync(join(folder, `${name}.xml`), 'utf8');
    const { certificate, services, territory, time } = situationIn(text);
    const judged = qualifyCertificate(certificate, { services, territory }, time);
    const word = wordOf(judged.qualified, judged.device, judged.stated);
    tell(
      'situation',
      name,
      word === expected,
      `${word} (that validator: ${expected}) ${judged.reasons.join(' ')}`,
    );
  }
}

function situationIn(text) {
  const all = (pattern, within = text) => [...within.matchAll(pattern)].map((found) => found[1]);
  const id = /<Signature [\s\S]*?<SigningCertificate [^>]*Certificate="([^"]+)"/.exec(text)[1];
  const own = all(/(<Certificate Id="[\s\S]*?<\/Certificate>)/g).find((one) =>
    one.startsWith(`<Certificate Id="${id}"`),
  );
  const oids = (name) => all(new RegExp(`<${name}[^>]*>([\\d.]+)<`, 'g'), own);
  const has = (name) => new RegExp(`<${name} present="true"`).test(own);
  const organization = /IssuerDistinguishedName Format="RFC2253">[^<]*?O=([^,<]+)/.exec(own)?.[1];
  const services = all(/(<TrustServiceProvider [\s\S]*?<\/TrustServiceProvider>)/g, own).flatMap(
    (provider) => {
      const names = [
        ...all(/<TSPName [^>]*>([^<]*)</g, provider),
        ...all(/<TSPTradeName [^>]*>([^<]*)</g, provider),
      ];
      const entries = all(/(<TrustService [\s\S]*?<\/TrustService>)/g, provider).map((one) => ({
        digital: /ServiceDigitalIdentifier="([^"]+)"/.exec(one)[1],
        name: /<ServiceName [^>]*>([^<]*)</.exec(one)?.[1] ?? '',
        end: /<EndDate>([^<]+)/.exec(one)?.[1],
        type: /<ServiceType>([^<]+)/.exec(one)[1],
        status: /<Status>([^<]+)/.exec(one)[1],
        since: Date.parse(/<StartDate>([^<]+)/.exec(one)[1]),
        information: all(/<AdditionalServiceInfoUri>([^<]+)</g, one),
        qualifications: [...one.matchAll(/<Qualifier(?: critical="(\w+)")?>([^<]+)</g)].map(
          ([, critical, uri]) => ({
            qualifiers: [uri],
            isCritical: critical === 'true',
            criteria: { kind: 'all', criteria: [{ kind: 'policies', ids: [] }] },
          }),
        ),
        isUnread: false,
      }));
      return serviceGroups(entries).map((group) => ({
        provider: { names },
        service: { name: group[0].name, entries: group },
      }));
    },
  );
  return {
    territory: /<CountryCode>([^<]+)/.exec(text)[1],
    time: Date.parse(
      /<ClaimedSigningTime>([^<]+)/.exec(text)?.[1] ?? /<ValidationDate>([^<]+)/.exec(text)[1],
    ),
    services,
    certificate: {
      keyUsage: undefined,
      policies: oids('certificatePolicy'),
      extendedKeyUsage: undefined,
      statements: [
        ...(has('QcCompliance') ? ['0.4.0.1862.1.1'] : []),
        ...(has('QcSSCD') ? ['0.4.0.1862.1.4'] : []),
      ],
      statedTypes: oids('QcType'),
      statedCountries: [],
      subject: Buffer.from('3000', 'hex'),
      issuer: issuerOf(organization),
      notBefore: Date.parse(/<NotBefore>([^<]+)/.exec(own)[1]),
    },
  };
}

/** Entries follow each other where one ends as the other begins; else they belong to services of their own. */
function serviceGroups(entries) {
  const groups = [];
  for (const entry of entries.sort((one, other) => other.since - one.since)) {
    const group = groups.find((one) => entry.end !== undefined && one.at(-1).since === Date.parse(entry.end));
    if (group === undefined) groups.push([entry]);
    else group.push(entry);
  }
  return groups;
}

function issuerOf(organization) {
  if (organization === undefined) return Buffer.from('3000', 'hex');
  const tlv = (tag, content) => Buffer.concat([Buffer.from([tag, content.length]), content]);
  const value = tlv(0x0c, Buffer.from(organization));
  return tlv(0x30, tlv(0x31, tlv(0x30, Buffer.concat([Buffer.from('060355040a', 'hex'), value]))));
}
