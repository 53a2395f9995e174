import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ava, { type ExecutionContext } from 'ava';
import { timeText } from '#crypto/asn1/time.js';
import { encodeOcspRequest } from '#crypto/evidence/revocation-inquiry.js';
import { type RevocationStatus, revocationStatus } from '#crypto/evidence/revocation-status.js';
import { certificatePem, readCertificate } from '#crypto/x509/certificate.js';
import { makeAuthorityPki } from '../../pki/authority-pki.ts';
import { keyPemOf } from '../../pki/pki.ts';
import { serialOf } from '../../pki/revocation-answers.ts';
import { runTool, withTools } from '../../verifiers/index.ts';

const test = withTools(ava, 'openssl');

const AT = Math.floor(Date.now() / 1000) * 1000;
const DAY = 86_400_000;
const pki = makeAuthorityPki({ baseUrl: 'http://authority.test', now: AT });
const issuer = readCertificate(pki.issuing.certificate);
const signer = readCertificate(pki.signer('p-256').certificate);

/** Creates the files of an openssl CA with this status of the signer. */
function caFolder(entry: 'good' | 'revoked' | 'absent') {
  const folder = mkdtempSync(join(pki.folder, 'ca-'));
  const file = (name: string, content: string | Buffer) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const expiry = timeText(signer.notAfter).slice(2);
  const since = entry === 'revoked' ? `${timeText(AT - DAY).slice(2)},keyCompromise` : '';
  const serial = serialOf(signer.der).toUpperCase();
  const line = `${entry === 'revoked' ? 'R' : 'V'}\t${expiry}\t${since}\t${serial}\tunknown\t/CN=Signer\n`;
  file('index.txt.attr', 'unique_subject = no\n');
  return { folder, file, index: file('index.txt', entry === 'absent' ? '' : line) };
}

async function run(t: ExecutionContext, args: readonly string[]): Promise<void> {
  const { exit, stderr } = await runTool('openssl', args);
  t.is(exit, 0, stderr);
}

function wanted(entry: 'good' | 'revoked' | 'absent', kind: 'ocsp' | 'crl'): RevocationStatus['status'] {
  if (entry === 'absent') return kind === 'ocsp' ? 'unknown' : 'good';
  return entry;
}

function agree(t: ExecutionContext, status: RevocationStatus, expected: RevocationStatus['status']): void {
  t.is(status.status, expected, status.status === 'unknown' ? status.reason : '');
  if (status.status === 'revoked') {
    t.deepEqual(status.revocation, { at: AT - DAY, reason: 'keyCompromise' });
  }
}

for (const entry of ['good', 'revoked', 'absent'] as const) {
  test(`openssl as responder and the engine understand each other: ${entry}`, async (t) => {
    const { folder, file, index } = caFolder(entry);
    const { key, certificate } = pki.issuing.responder;
    const answer = join(folder, 'answer');
    await run(t, [
      'ocsp',
      '-index',
      index,
      '-CA',
      pki.issuingFile,
      '-ndays',
      '1',
      '-rsigner',
      file('responder.pem', certificatePem(certificate)),
      '-rkey',
      file('responder.key', keyPemOf(key)),
      '-reqin',
      file('request', encodeOcspRequest(signer, issuer)),
      '-respout',
      answer,
    ]);
    const evidence = { certificates: [], crls: [], ocsps: [readFileSync(answer)] };
    agree(t, revocationStatus(signer, issuer, { evidence, at: AT + 1000 }), wanted(entry, 'ocsp'));
  });

  test(`the engine reads a CRL that openssl makes: ${entry}`, async (t) => {
    const { folder, file, index } = caFolder(entry);
    const config = file(
      'ca.cnf',
      `[ca]\ndefault_ca=d\n[d]\ndatabase=${index}\ncrlnumber=${folder}/number\ndefault_md=sha256\ndefault_crl_days=1\ncrl_extensions=x\n[x]\nauthorityKeyIdentifier=keyid\n`,
    );
    file('number', '01\n');
    const list = join(folder, 'list');
    await run(t, [
      'ca',
      '-gencrl',
      '-config',
      config,
      '-cert',
      pki.issuingFile,
      '-out',
      `${list}.pem`,
      '-keyfile',
      file('ca.key', keyPemOf(pki.issuing.key)),
    ]);
    await run(t, ['crl', '-in', `${list}.pem`, '-outform', 'DER', '-out', list]);
    const evidence = { certificates: [], crls: [readFileSync(list)], ocsps: [] };
    agree(t, revocationStatus(signer, issuer, { evidence, at: AT + 1000 }), wanted(entry, 'crl'));
  });
}
