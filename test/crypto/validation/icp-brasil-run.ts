/**
 * Compares the table of policies of ICP-Brasil with the policies themselves, and judges the public sample. Both are git
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
