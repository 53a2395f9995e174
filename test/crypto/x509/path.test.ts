import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import test from 'ava';
import { type Certificate, readCertificate } from '#crypto/x509/certificate.js';
import { checkKeyUsage } from '#crypto/x509/certificate-checks.js';
import { pathDefects } from '#crypto/x509/path-defects.js';
import { findPath, findPaths } from '#crypto/x509/path-search.js';
import { type CertificateUse, DOCUMENT_SIGNING, issueCertificate } from '../../pki/issuing.ts';

const AT = Date.now();
const DAY = 86_400_000;
const SIGNER: CertificateUse = { kind: 'signer', purposes: DOCUMENT_SIGNING };

interface Issued {
  readonly name: string;
  readonly key: KeyObject;
  readonly certificate: Certificate;
}

function make(
  name: string,
  issuer?: Pick<Issued, 'name' | 'key'>,
  {
    use = { kind: 'ca' },
    days = [-1, 1],
    pair = generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  }: {
    readonly use?: CertificateUse | undefined;
    readonly days?: readonly [number, number] | undefined;
    readonly pair?: ReturnType<typeof generateKeyPairSync> | undefined;
  } = {},
): Issued {
  const der = issueCertificate({
    subject: { commonName: name },
    issuer: { commonName: issuer?.name ?? name },
    publicKey: pair.publicKey,
    issuerKey: issuer?.key ?? pair.privateKey,
    serial: randomBytes(8),
    notBefore: AT + days[0] * DAY,
    notAfter: AT + days[1] * DAY,
    use,
  });
  return { name, key: pair.privateKey, certificate: readCertificate(der) };
}

function reason(leaf: Issued, others: readonly Issued[], anchors: readonly Issued[], at = AT): string {
  const result = findPath({
    certificate: leaf.certificate,
    others: others.map(({ certificate }) => certificate),
    anchors: anchors.map(({ certificate }) => certificate),
    at,
  });
  return result.ok ? `path of ${result.path.length}` : result.reason;
}

const root = make('root');
const issuing = make('issuing', root);
const leaf = make('leaf', issuing, { use: SIGNER });

test('a path is built over intermediates in any order, with unrelated certificates among them', (t) => {
  const deeper = make('deeper', issuing);
  const low = make('low', deeper, { use: SIGNER });
  t.is(reason(low, [make('stranger'), deeper, low, issuing], [make('other'), root]), 'path of 4');
});

test('an intermediate, and the certificate itself, may be the anchor', (t) => {
  t.is(reason(leaf, [], [issuing]), 'path of 2');
  t.is(reason(leaf, [], [leaf]), 'path of 1');
});

test('a certificate inside the signature is never a trust anchor', (t) => {
  t.regex(
    reason(leaf, [issuing, root], [make('root')]),
    /signature of the certificate of CN=issuing is wrong/,
  );
  t.regex(reason(leaf, [issuing, root], []), /no issuer/);
});

test('an issuer with the right name and another key is not used', (t) => {
  t.is(
    reason(leaf, [], [make('issuing')]),
    'the signature of the certificate of leaf is wrong: the key of its issuer is another one',
  );
});

test('the certificate of a signer issues no others', (t) => {
  const forged = make('forged', leaf, { use: SIGNER });
  t.is(reason(forged, [leaf, issuing], [root]), 'the certificate of leaf is not that of a CA');
});

test('a path longer than an issuer allows is refused', (t) => {
  const narrow = make('narrow', root, { use: { kind: 'ca', pathLength: 0 } });
  const below = make('below', narrow);
  const low = make('low', below, { use: SIGNER });
  t.is(
    reason(low, [below, narrow], [root]),
    'the certificate of CN=narrow allows 0 CAs below it, and there are 1',
  );
  t.is(reason(make('direct', narrow, { use: SIGNER }), [narrow], [root]), 'path of 3');
});

test('every certificate of the path must be valid at the time', (t) => {
  const old = make('old', root, { use: { kind: 'ca' }, days: [-3, -2] });
  t.regex(
    reason(make('leaf', old, { use: SIGNER }), [old], [root]),
    /^the certificate of CN=old has expired at /,
  );
  t.regex(reason(leaf, [issuing], [root], AT + 2 * DAY), /leaf has expired/);
  t.regex(reason(leaf, [issuing], [root], AT - 2 * DAY), /leaf is not valid yet, but from /);
  const oldRoot = make('old root', undefined, { use: { kind: 'ca' }, days: [-3, -2] });
  t.regex(reason(make('leaf', oldRoot, { use: SIGNER }), [], [oldRoot]), /CN=old root has expired/);
});

test('a cycle of issuers ends the search', (t) => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const one = { name: 'one', key: pair.privateKey };
  const two = make('two', one);
  const circle = make('one', two, { use: { kind: 'ca' }, days: [-1, 1], pair });
  const low = make('low', two, { use: SIGNER });
  t.regex(reason(low, [two, circle], [root]), /no issuer|anchor|wrong|long/);
});

test('the search among many issuers of one name ends after a bounded number of probes', (t) => {
  const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = { one: pair(), two: pair(), three: pair(), four: pair() };
  const copies = (name: keyof typeof keys, above: keyof typeof keys) =>
    Array.from({ length: 6 }, () =>
      make(
        name,
        { name: above, key: keys[above].privateKey },
        { use: { kind: 'ca' }, days: [-1, 1], pair: keys[name] },
      ),
    );
  const crowd = [...copies('one', 'two'), ...copies('two', 'three'), ...copies('three', 'four')];
  const low = make('low', { name: 'one', key: keys.one.privateKey }, { use: SIGNER });
  t.is(reason(low, crowd, [root]), 'there are too many certificates to try');
});

test('every path to an anchor is found, those with a matching key identifier first', (t) => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const otherRoot = make('other root');
  const namesake = make('cross', root);
  const one = make('cross', root, { use: { kind: 'ca' }, days: [-3, -2], pair });
  const two = make('cross', otherRoot, { use: { kind: 'ca' }, days: [-1, 1], pair });
  const low = make('low', one, { use: SIGNER });
  const request = {
    certificate: low.certificate,
    others: [namesake, one, two].map(({ certificate }) => certificate),
    anchors: [root, otherRoot].map(({ certificate }) => certificate),
  };
  const { paths, reason } = findPaths(request);
  t.is(reason, undefined);
  t.deepEqual(
    paths.map((path) => path[1]?.fingerprint).sort(),
    [one.certificate.fingerprint, two.certificate.fingerprint].sort(),
  );
  t.true(findPath({ ...request, at: AT }).ok, 'over the one that is valid now');
  const [first] = paths;
  const flaws = pathDefects(first ?? [], AT - 2.5 * DAY).map(({ kind }) => kind);
  t.true(flaws.includes('not-yet-valid'));
  t.deepEqual(findPaths({ ...request, anchors: [] }).paths, []);
});

test('a key for certificate signing alone may not sign documents', (t) => {
  t.false(checkKeyUsage(issuing.certificate).ok);
  t.true(checkKeyUsage(leaf.certificate).ok);
});
