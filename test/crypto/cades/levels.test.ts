import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as asn1js from 'asn1js';
import test from 'ava';
import { encoded } from '#crypto/asn1/read.js';
import { augmentCades } from '#crypto/cades/augment.js';
import { signCades, signCadesAtLevel } from '#crypto/cades/sign.js';
import type { SignedData, SignerInfo } from '#crypto/cms/parse.js';
import type { AugmentFileRequest, SignatureLevel, SignFileRequest } from '#crypto/core/types.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { certificatePem } from '#crypto/x509/certificate.js';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import type { KeyKind } from '../../pki/pki.ts';
import { opensslCmsPrint, runTool, withTools } from '../../verifiers/index.ts';
import {
  accepted,
  bytes,
  changedCopy,
  codeOf,
  facts,
  failures,
  file,
  sha256,
  signedDataIn,
} from './cades-harness.ts';

const toolTest = withTools(test, 'openssl');

const SIGNATURE_TIMESTAMP = '1.2.840.113549.1.9.16.2.14';
const ARCHIVE_TIMESTAMP = '0.4.0.1733.2.4';
const HASH_INDEX = '0.4.0.19122.1.5';

let authority: TestAuthority;
test.before(async () => {
  authority = await startAuthority();
});
test.after.always(() => authority.close());

function request(
  level: SignatureLevel,
  more: Partial<SignFileRequest> & { readonly kind?: KeyKind } = {},
): SignFileRequest {
  const { kind = 'p-256', ...rest } = more;
  const signer = authority.pki.signer(kind);
  return {
    format: 'Cades',
    input: file(bytes(3000)),
    output: file(),
    signer,
    at: Date.now(),
    level,
    ...rest,
  };
}

function augmentation(input: string, to: AugmentFileRequest['to'], content?: string): AugmentFileRequest {
  const named = content === undefined ? {} : { content };
  return { format: 'Cades', input, output: file(), to, at: Date.now(), ...named };
}

function tokensOf({ unsignedAttributes }: SignerInfo, type: string): Buffer[] {
  return (unsignedAttributes?.values.get(type) ?? []).map(encoded);
}

function onlySigner({ signers }: SignedData): SignerInfo {
  if (signers.length !== 1 || signers[0] === undefined) throw new Error('one signer expected');
  return signers[0];
}

/** Returns the output of `openssl ts` for a token over these bytes. */
async function tokenVerdict(token: Buffer, data: Buffer): Promise<string> {
  const { rootFile, stampingFile } = authority.pki;
  const args = ['ts', '-verify', '-token_in', '-in', file(token), '-data', file(data)];
  const { exit, stdout, stderr } = await runTool('openssl', [
    ...args,
    '-CAfile',
    rootFile,
    '-untrusted',
    stampingFile,
  ]);
  return exit === 0 && `${stdout}${stderr}`.includes('Verification: OK') ? 'OK' : `${stdout}${stderr}`;
}

type Node = asn1js.AsnType & { readonly valueBlock: { readonly value?: readonly Node[] } };

function node(der: Buffer): Node {
  return asn1js.fromBER(der).result as Node;
}

function children(parent: Node | undefined): readonly Node[] {
  return parent?.valueBlock.value ?? [];
}

function raw(part: Node): Buffer {
  return Buffer.from(part.valueBeforeDecodeView);
}

function oidOf(part: Node | undefined): string {
  return (part as unknown as asn1js.ObjectIdentifier).valueBlock.toString();
}

function attributesIn(signerInfo: Node, tag: number): readonly Node[] {
  return children(
    children(signerInfo).find(({ idBlock }) => idBlock.tagClass === 3 && idBlock.tagNumber === tag),
  );
}

/**
 * EN 319 122-1 §5.5.3 worked out a second time, with another reader of ASN.1: what archive time-stamp number `place`
 * of the only signer has to be over, given which attributes were there before it.
 */
function archiveInput(der: Buffer, content: Buffer, token: Buffer, before: readonly string[]): Buffer {
  const fields = children(children(children(node(der))[1])[0]);
  const [, , encapsulated] = fields;
  const context = (tag: number) =>
    children(fields.find(({ idBlock }) => idBlock.tagClass === 3 && idBlock.tagNumber === tag)).map(raw);
  const signerInfo = children(fields[fields.length - 1])[0];
  const tokenFields = children(children(children(node(token))[1])[0]);
  const tokenSigner = children(tokenFields[tokenFields.length - 1])[0];
  const index = attributesIn(tokenSigner!, 1)
    .filter((attribute) => oidOf(children(attribute)[0]) === HASH_INDEX)
    .map((attribute) => children(children(attribute)[1])[0]!);
  if (index.length !== 1 || signerInfo === undefined) throw new Error('one index expected');
  const [algorithm, certificates, crls, unsigned] = children(index[0]);
  if (oidOf(children(algorithm)[0]) !== '2.16.840.1.101.3.4.2.1') throw new Error('SHA-256 expected');
  const sha = (data: Buffer) => createHash('sha256').update(data).digest('hex');
  const hashes = (list: Node | undefined) =>
    children(list)
      .map((one) =>
        Buffer.from((one as unknown as asn1js.OctetString).valueBlock.valueHexView).toString('hex'),
      )
      .sort();
  const indexed = (values: readonly Buffer[]) => values.map(sha).sort();
  const expected = attributesIn(signerInfo, 1).flatMap((attribute) => {
    const [type, values] = children(attribute);
    const all = children(values).map((value) => Buffer.concat([raw(type!), raw(value)]));
    return all.filter((one) => before.includes(sha(one)));
  });
  assertEqual(hashes(certificates), indexed(context(0)));
  assertEqual(hashes(crls), indexed(context(1)));
  assertEqual(hashes(unsigned), indexed(expected));
  const kept = children(signerInfo).filter(
    ({ idBlock }) => idBlock.tagClass !== 3 || idBlock.tagNumber !== 1,
  );
  return Buffer.concat([
    raw(children(encapsulated)[0]!),
    createHash('sha256').update(content).digest(),
    ...kept.map(raw),
    raw(index[0]!),
  ]);
}

function assertEqual(left: readonly string[], right: readonly string[]): void {
  if (left.length !== right.length || left.some((one, at) => one !== right[at])) {
    throw new Error(`the index differs: ${left.length} hashes, ${right.length} values`);
  }
}

/** SHA-256 of type and value of every unsigned attribute's value, as the index lists them. */
function valueHashes(path: string): string[] {
  const { unsignedAttributes } = onlySigner(signedDataIn(path));
  return (unsignedAttributes?.encodings ?? []).flatMap((attribute) => {
    const [type, values] = children(node(attribute));
    return children(values).map((value) =>
      createHash('sha256').update(raw(type!)).update(raw(value)).digest('hex'),
    );
  });
}

for (const kind of ['rsa-2048', 'p-256', 'p-384', 'ed25519'] as const) {
  toolTest(
    `a level T signature by ${kind} carries a token over its value that openssl verifies`,
    async (t) => {
      for (const detached of [false, true]) {
        const padding = kind === 'rsa-2048' ? ({ padding: 'pss' } as const) : {};
        const signing = request('T', { kind, ...padding, cades: { detached } });
        const done = await signCadesAtLevel(signing, authority.services);
        t.is(done.input.sha256, sha256(signing.input));
        t.is(done.output.sha256, sha256(signing.output));
        const content = detached ? signing.input : undefined;
        const signature = { signature: signing.output, ca: authority.pki.rootFile };
        if (kind !== 'ed25519') {
          const verdict = await accepted({ ...signature, ...(content === undefined ? {} : { content }) });
          t.is(verdict, 'accepted');
        }
        const signer = onlySigner(signedDataIn(signing.output));
        const [token, ...more] = tokensOf(signer, SIGNATURE_TIMESTAMP);
        t.is(more.length, 0);
        t.is(await tokenVerdict(token!, signer.signature), 'OK');
        const other = Buffer.from(signer.signature);
        other[0] = (other[0] ?? 0) ^ 1;
        t.not(await tokenVerdict(token!, other), 'OK');
        const found = facts(signing.output, content);
        t.deepEqual(failures(found), []);
        t.is(found.signatures[0]?.level, 'T');
      }
    },
  );
}

toolTest('openssl prints the attribute of level T, and none at level B', async (t) => {
  const withToken = request('T');
  const without = request('B');
  await signCadesAtLevel(withToken, authority.services);
  await signCadesAtLevel(without, {});
  t.regex(await opensslCmsPrint(withToken.output), /unsignedAttrs:[\s\S]*id-smime-aa-timeStampToken/);
  t.notRegex(await opensslCmsPrint(without.output), /timeStampToken/);
});

toolTest(
  'level LT holds chains and revocation answers of signer and time-stamp that openssl accepts',
  async (t) => {
    const signing = request('LT', { cades: { detached: true } });
    await signCadesAtLevel(signing, authority.services);
    const data = signedDataIn(signing.output);
    const { pki } = authority;
    const inside = data.certificates.map((der) => der.toString('base64'));
    for (const one of [signing.signer, pki.issuing, pki.stamping, pki.timestampSigner]) {
      t.true(inside.includes(one.certificate.toString('base64')));
    }
    t.is(new Set(inside).size, inside.length);
    t.true(data.crls.length + data.ocsps.length >= 3);
    t.true(data.ocsps.length > 0);
    for (const crl of data.crls) {
      const { exit, stdout } = await runTool('openssl', [
        'crl',
        '-inform',
        'DER',
        '-noout',
        '-issuer',
        '-in',
        file(crl),
      ]);
      t.is(exit, 0);
      t.regex(stdout, /Authority/);
    }
    let good = 0;
    for (const answer of data.ocsps) {
      const args = ['ocsp', '-respin', file(answer), '-no_nonce', '-CAfile', pki.rootFile];
      const check = async (issuer: string, certificate: Buffer) => {
        const cert = file(certificatePem(certificate));
        const run = await runTool('openssl', [
          ...args,
          '-issuer',
          issuer,
          '-cert',
          cert,
          '-verify_other',
          issuer,
        ]);
        return run.stderr.includes('Response verify OK') && run.stdout.includes(`${cert}: good`);
      };
      if (await check(pki.issuingFile, signing.signer.certificate)) good++;
      if (await check(pki.stampingFile, pki.timestampSigner.certificate)) good++;
    }
    t.is(good, 2);
    const printed = await opensslCmsPrint(signing.output);
    t.regex(printed, /version: 5/);
    const request_ = { signature: signing.output, ca: pki.rootFile };
    t.is(await accepted({ ...request_, content: signing.input }), 'accepted');
    t.not(await accepted({ ...request_, content: changedCopy(signing.input, 5) }), 'accepted');
    const found = facts(signing.output, signing.input);
    t.deepEqual(failures(found), []);
    t.is(found.signatures[0]?.level, 'LT');
  },
);

for (const form of ['detached', 'enveloping', 'pem'] as const) {
  toolTest(
    `level LTA, ${form}: an independent computation gives the same imprint of the archive time-stamp`,
    async (t) => {
      const cades = { detached: form === 'detached', armor: form === 'pem' ? 'pem' : 'der' } as const;
      const signing = request('LTA', { cades });
      await signCadesAtLevel(signing, authority.services);
      const content = readFileSync(signing.input);
      const data = signedDataIn(signing.output);
      const signer = onlySigner(data);
      const [token, ...more] = tokensOf(signer, ARCHIVE_TIMESTAMP);
      t.is(more.length, 0);
      const before = valueHashes(signing.output).filter((hash) => hash !== hashOfArchive(token!));
      t.is(before.length, 1);
      const input = archiveInput(derOf(signing.output), content, token!, before);
      t.is(await tokenVerdict(token!, input), 'OK');
      const other = archiveInput(derOf(signing.output), bytes(2999), token!, before);
      t.not(await tokenVerdict(token!, other), 'OK');
      const found = facts(signing.output, form === 'detached' ? signing.input : undefined);
      t.deepEqual(failures(found), []);
      t.is(found.signatures[0]?.level, 'LTA');
      const verdict = await accepted({
        signature: signing.output,
        form: form === 'pem' ? 'PEM' : 'DER',
        ca: authority.pki.rootFile,
        ...(form === 'detached' ? { content: signing.input } : {}),
      });
      t.is(verdict, 'accepted');
    },
  );
}

/** As `valueHashes`, of an archive time-stamp. */
function hashOfArchive(token: Buffer): string {
  const type = Buffer.from(new asn1js.ObjectIdentifier({ value: ARCHIVE_TIMESTAMP }).toBER());
  return createHash('sha256').update(type).update(token).digest('hex');
}

function derOf(path: string): Buffer {
  const bytes = readFileSync(path);
  if (bytes[0] === 0x30) return bytes;
  return Buffer.from(bytes.toString('latin1').split('\n').slice(1, -2).join(''), 'base64');
}

test('an archive time-stamp fails after a certificate or revocation value is removed', async (t) => {
  const signing = request('LTA');
  await signCadesAtLevel(signing, authority.services);
  const der = readFileSync(signing.output);
  const data = signedDataIn(signing.output);
  for (const gone of [data.certificates[0]!, data.ocsps[0]!]) {
    const broken = Buffer.from(der);
    // One bit of it changed is as good as gone, and leaves every length right.
    const at = der.indexOf(gone) + gone.length - 1;
    broken[at] = (broken[at] ?? 0) ^ 1;
    const found = failures(facts(file(broken)));
    t.true(
      found.some((text) => text.includes('timestamp.index')),
      found.join('\n'),
    );
  }
});

toolTest(
  'a signature is augmented from B to T, LT and LTA and renewed, and its earlier bytes stay unchanged',
  async (t) => {
    for (const form of ['detached', 'enveloping', 'pem'] as const) {
      const cades = { detached: form === 'detached', armor: form === 'pem' ? 'pem' : 'der' } as const;
      const signing = request('B', { cades });
      signCades({ ...signing, level: 'B' });
      const content = form === 'detached' ? signing.input : undefined;
      let path = signing.output;
      const seen = [onlySigner(signedDataIn(path))];
      for (const [to, level] of [
        ['T', 'T'],
        ['LT', 'LT'],
        ['LTA', 'LTA'],
        ['LTA', 'LTA'],
      ] as const) {
        const step = augmentation(path, to, content);
        const done = await augmentCades(step, authority.freshServices());
        t.is(done.input.sha256, sha256(path));
        t.is(done.output.sha256, sha256(step.output));
        path = step.output;
        const found = facts(path, content);
        t.deepEqual(failures(found), [], `${form} ${to}`);
        t.is(found.signatures[0]?.level, level);
        const verdict = await accepted({
          signature: path,
          form: form === 'pem' ? 'PEM' : 'DER',
          ca: authority.pki.rootFile,
          ...(content === undefined ? {} : { content }),
        });
        t.is(verdict, 'accepted', `${form} ${to}`);
        seen.push(onlySigner(signedDataIn(path)));
        if (level === 'T') continue;
        // From here on no service is called.
        const report = await validateFile({
          format: 'Cades',
          path,
          ...(content === undefined ? {} : { content }),
          at: Date.now(),
          trust: { anchors: [authority.pki.root.certificate], intermediates: [], revocation: 'hard' },
        });
        t.is(
          report.indication,
          'TOTAL-PASSED',
          `${form} ${to}: ${JSON.stringify(report.signatures[0]?.results.errors)}`,
        );
      }
      for (const [at, signer] of seen.entries()) {
        const last = seen[seen.length - 1]!;
        t.true(signer.signature.equals(last.signature));
        t.deepEqual(signer.attributes?.encodings, last.attributes?.encodings);
        const kept = last.unsignedAttributes?.encodings ?? [];
        for (const one of signer.unsignedAttributes?.encodings ?? []) {
          t.true(
            kept.some((other) => other.equals(one)),
            `attribute of step ${at}`,
          );
        }
      }
      t.is(tokensOf(seen[4]!, ARCHIVE_TIMESTAMP).length, 2);
      t.is(tokensOf(seen[4]!, SIGNATURE_TIMESTAMP).length, 1);
    }
  },
);

toolTest(
  'openssl extracts the content of an augmented file that it had streamed in chunks itself',
  async (t) => {
    const { pki } = authority;
    const signer = pki.signer('p-256');
    const input = file(bytes(300_000));
    const key = file(signer.key.keyObject.export({ type: 'pkcs8', format: 'pem' }));
    const cert = file(certificatePem(signer.certificate));
    const signed = file();
    const { exit, stderr } = await runTool('openssl', [
      'cms',
      '-sign',
      '-cades',
      '-binary',
      '-nodetach',
      '-stream',
      '-outform',
      'DER',
      '-md',
      'sha256',
      '-in',
      input,
      '-out',
      signed,
      '-signer',
      cert,
      '-inkey',
      key,
      '-certfile',
      pki.issuingFile,
    ]);
    t.is(exit, 0, stderr);
    t.is(readFileSync(signed)[1], 0x80, 'indefinite length');
    const step = augmentation(signed, 'LTA');
    await augmentCades(step, authority.services);
    const out = file();
    t.is(await accepted({ signature: step.output, ca: pki.rootFile, out }), 'accepted');
    t.true(readFileSync(out).equals(readFileSync(input)));
    t.deepEqual(failures(facts(step.output)), []);
  },
);

test('augmentation refuses a broken signature, a detached one without content, and a file without a signature', async (t) => {
  const plain = request('B');
  signCades(plain);
  const beside = request('B', { cades: { detached: true } });
  signCades(beside);
  const stamped = request('T');
  await signCadesAtLevel(stamped, authority.services);
  const archived = request('LTA');
  await signCadesAtLevel(archived, authority.services);
  const [token] = tokensOf(onlySigner(signedDataIn(stamped.output)), SIGNATURE_TIMESTAMP);
  const tokenEnd = readFileSync(stamped.output).indexOf(token!) + token!.length - 1;
  const [answer] = signedDataIn(archived.output).ocsps;
  const answerEnd = readFileSync(archived.output).indexOf(answer!) + answer!.length - 1;
  const asked = authority.requests.timestamp;
  const cases: readonly [string, AugmentFileRequest][] = [
    ['signature.mismatch', augmentation(changedCopy(plain.output, 500), 'T')],
    ['signature.mismatch', augmentation(beside.output, 'LTA', changedCopy(beside.input, 9))],
    ['signature.mismatch', augmentation(changedCopy(stamped.output, tokenEnd), 'LTA')],
    ['signature.mismatch', augmentation(changedCopy(archived.output, answerEnd), 'LTA')],
    ['request.invalid', augmentation(plain.output, 'T', plain.input)],
    ['cms.malformed', augmentation(file(bytes(900)), 'T')],
    ['cms.malformed', augmentation(file('-----BEGIN PKCS7-----\n!!!!\n-----END PKCS7-----\n'), 'T')],
    [
      'cms.malformed',
      augmentation(file('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'), 'T'),
    ],
    ['input.empty', augmentation(file(''), 'T')],
  ];
  for (const [code, step] of cases) {
    t.is(await codeOf(() => augmentCades(step, authority.services)), code);
    t.throws(() => readFileSync(step.output), { code: 'ENOENT' });
  }
  t.is(authority.requests.timestamp, asked);
  const needsContent = augmentation(beside.output, 'LTA');
  t.is(await codeOf(() => augmentCades(needsContent, authority.services)), 'request.invalid');
  t.throws(() => readFileSync(needsContent.output), { code: 'ENOENT' });
});
