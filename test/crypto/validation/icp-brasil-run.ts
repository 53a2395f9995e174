/**
 * Compares the table of policies of ICP-Brasil with the policies themselves and with the approved lists, and judges the public sample. Both are git
 * directories on this machine; nothing of them is kept in the repository.
 *
 * `node dist/test/crypto/validation/icp-brasil-run.js demoiselle=<git dir of demoiselle/signer> dss=<git dir of esig/dss>`
 */
import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { childrenOf, contents, encoded, oidText, readWhole } from '#crypto/asn1/read.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { ICP_BRASIL, RULES } from '#crypto/validation/icp-brasil.js';
import { fingerprintOf } from '#crypto/x509/certificate.js';

const places = new Map(process.argv.slice(2).map((text) => text.split('=') as [string, string]));

function blob(place: string, path: string): Buffer {
  const folder = places.get(place) ?? '';
  return execFileSync('git', ['-C', folder, 'show', `HEAD:${path}`], { maxBuffer: 1 << 28 });
}

/** Number, days and digest of a policy in DER: SignaturePolicy ::= SEQUENCE { hashAlg, info, hash }. */
function policyInDer(file: Buffer): string {
  const [hashAlg, info, hash] = childrenOf(readWhole(file));
  if (hashAlg === undefined || info === undefined || hash === undefined) throw new Error('no policy');
  const inner = createHash('sha256').update(encoded(hashAlg)).update(encoded(info)).digest();
  if (!inner.equals(contents(hash))) throw new Error('the policy has another hash than it says');
  const [identifier, , , , validation] = childrenOf(info);
  if (identifier === undefined || validation === undefined) throw new Error('no policy');
  const days = childrenOf(childrenOf(validation)[0] ?? validation).map((one) =>
    contents(one).toString('latin1'),
  );
  return line(oidText(identifier), days, inner);
}

function policyInXml(file: Buffer): string {
  const text = file.toString();
  const days = [...text.matchAll(/Not(?:Before|After)>([^<]+)</g)].map(([, day = '']) =>
    day.replaceAll('-', ''),
  );
  const id = /urn:oid:([\d.]+)/.exec(text)?.[1] ?? '';
  const digest = /SignPolicyDigest>([^<]+)</.exec(text)?.[1] ?? '';
  return line(id, days, Buffer.from(digest, 'base64'));
}

function line(id: string, days: readonly string[], digest: Buffer): string {
  return [id, ...days.map((day) => day.slice(0, 8)), digest.toString('base64')].join(' ');
}

/** Certificates of the keystore, which has them one after the other. */
function certificatesOf(store: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = store.indexOf('3082', 0, 'hex'); at >= 0; at = store.indexOf('3082', at + 1, 'hex')) {
    const der = store.subarray(at, at + 4 + store.readUInt16BE(at + 2));
    try {
      new X509Certificate(der);
    } catch {
      continue;
    }
    found.push(Buffer.from(der));
    at += der.length - 1;
  }
  return found;
}

const ENGINE = 'policy-engine/src/main/resources/org/demoiselle/signer/policy/engine/artifacts';
const policies = execFileSync(
  'git',
  ['-C', places.get('demoiselle') ?? '', 'ls-tree', '--name-only', 'HEAD', `${ENGINE}/`],
  { encoding: 'utf8' },
)
  .split('\n')
  .filter((path) => /PA_(PAdES_AD_R[BTCA]_v1|AD_R[BTVCA]_v2)_\d\.(der|xml)$/.test(path))
  .map((path) => (path.endsWith('xml') ? policyInXml : policyInDer)(blob('demoiselle', path)));
let wrong = 0;
for (const [number, from, until, , digest] of ICP_BRASIL) {
  const found = policies.find((text) => text.startsWith(`2.16.76.1.7.1.${number} `));
  const [, begin, end = '', value] = found?.split(' ') ?? [];
  // Lists end some policies before their day.
  const isSame = begin === from.replaceAll('-', '') && end >= until.replaceAll('-', '') && value === digest;
  if (!isSame) wrong++;
  process.stdout.write(`${isSame ? 'same ' : 'OTHER'} ${number} ${found}\n`);
}

/** An entry of an approved list (LPA): what the table says of it has to follow. */
interface Listed {
  readonly number: string;
  readonly from: string;
  /** Revoked, or the last day. */
  readonly until: string;
  /** SHA-256 of the file of the policy. */
  readonly digest: Buffer;
  readonly file: string;
  readonly isRevoked: boolean;
}

const day = (text: string): string => text.slice(0, 8).replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3');

/** LPA ::= SEQUENCE { SEQUENCE OF { period, revoked GeneralizedTime OPTIONAL, OID, IA5String, digest }, nextUpdate } */
function listInDer(file: Buffer): Listed[] {
  const [entries] = childrenOf(readWhole(file));
  return childrenOf(entries ?? readWhole(file)).map((entry) => {
    const [period, ...rest] = childrenOf(entry);
    const [digest, uri, id, revoked] = rest.reverse();
    if (!period || !digest || !uri || !id) throw new Error('no entry of a list');
    const [from = '', last = ''] = childrenOf(period).map((one) => contents(one).toString('latin1'));
    const [, value] = childrenOf(digest);
    return {
      number: oidText(id).replace('2.16.76.1.7.1.', ''),
      from: day(from),
      until: day(revoked === undefined ? last : contents(revoked).toString('latin1')),
      digest: value === undefined ? Buffer.alloc(0) : contents(value),
      file: contents(uri).toString('latin1').split('/').at(-1) ?? '',
      isRevoked: revoked !== undefined,
    };
  });
}

function listInXml(file: Buffer): Listed[] {
  return [...file.toString().matchAll(/<lpa:PolicyInfo>(.*?)<\/lpa:PolicyInfo>/gs)].map(([, text = '']) => {
    const one = (name: string): string => new RegExp(`<lpa:${name}>([^<]+)<`).exec(text)?.[1] ?? '';
    const revoked = one('RevocationDate');
    return {
      number: /urn:oid:2\.16\.76\.1\.7\.1\.([\d.]+)/.exec(text)?.[1] ?? '',
      from: one('NotBefore').slice(0, 10),
      until: (revoked || one('NotAfter')).slice(0, 10),
      digest: Buffer.from(one('DigestValue'), 'base64'),
      file: one('PolicyURI').split('/').at(-1) ?? '',
      isRevoked: revoked !== '',
    };
  });
}

/** The lists on the day of the facts: entries, those in force, and those that the table has otherwise or not at all. */
const ON = '2026-11-25';
/** Newer lists, of 2025-07-23, end these. */
const ENDED = new Set(['11.1.2', '12.1.2', '13.1.3', '14.1.3']);
for (const [file, read, count, offered] of [
  ['LPA_CAdES.der', listInDer, 37, 15],
  ['LPA_PAdES.der', listInDer, 14, 12],
  ['LPA_XAdES.xml', listInXml, 45, 15],
] as const) {
  const listed = read(blob('demoiselle', `${ENGINE}/${file}`));
  const inForce = listed.filter(({ isRevoked, until }) => !isRevoked && until > ON);
  const other = inForce.filter(({ number, from, until }) => {
    const row = ICP_BRASIL.find(([one]) => one === number);
    return row?.[1] !== from || (row[2] !== until && !ENDED.has(number));
  });
  const altered = inForce.filter(
    ({ file, digest }) =>
      !createHash('sha256')
        .update(blob('demoiselle', `${ENGINE}/${file}`))
        .digest()
        .equals(digest),
  );
  if (listed.length !== count || inForce.length !== offered) wrong++;
  wrong += other.length + altered.length;
  process.stdout.write(
    `${file}: ${listed.length} entries, ${inForce.length} in force, ${other.length} otherwise in the table, ${altered.length} with another digest\n`,
  );
}

const certificates = certificatesOf(
  blob('demoiselle', 'chain-icp-brasil/src/main/resources/cadeiasicpbrasil.bks'),
);
const [root = ''] = RULES.a.roots;
const anchors = certificates.filter((der) => fingerprintOf(der) === root);
const { signatures } = await validateFile({
  format: 'Pades',
  path: blob('dss', 'dss-pades/src/test/resources/validation/AD-RB.pdf'),
  trust: { anchors, intermediates: certificates, revocation: 'none' },
  at: Date.UTC(2017, 4, 1),
});
const [sample] = signatures;
const items = [
  ...(sample?.results.passedChecks ?? []),
  ...(sample?.results.warnings ?? []),
  ...(sample?.results.errors ?? []),
];
const kept = items.filter(({ type }) => type.startsWith('policy.'));
for (const { type, message } of kept) process.stdout.write(`${type}: ${message}\n`);
process.stdout.write(
  `AD-RB.pdf: ${sample?.indication}, level ${sample?.level}, ${kept.length} checks of the policy\n`,
);
process.exitCode = wrong === 0 && sample?.indication === 'TOTAL-PASSED' && kept.length === 12 ? 0 : 1;
