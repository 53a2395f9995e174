import { readFileSync } from 'node:fs';
import test from 'ava';
import { addAsicSignature } from '#crypto/asic/add-signature.js';
import { counterSignAsic } from '#crypto/asic/counter-sign.js';
import { OID } from '#crypto/asn1/oids.js';
import { counterSignCades } from '#crypto/cades/counter-sign.js';
import { amendSignedData } from '#crypto/cms/amend.js';
import { parseSignerInfo } from '#crypto/cms/parse.js';
import type { Signer } from '#crypto/core/types.js';
import type { SignatureRecord, ValidationReport } from '#crypto/core/validation-report.js';
import { signFileAtLevel } from '#crypto/files/sign-file.js';
import { counterSignXades } from '#crypto/xades/counter-sign.js';
import { pki as otherPki } from '../../pki/pki.ts';
import { opensslCms, withTools } from '../../verifiers/index.ts';
import { codeOf, signedDataIn } from '../cades/cades-harness.ts';
import {
  at,
  authority,
  extracted,
  file,
  made,
  memberOf,
  NOW,
  ORDER,
  remade,
  replacing,
  validated,
} from './container-harness.ts';

const toolTest = withTools(test, 'openssl', 'python3');

type Format = 'Cades' | 'Xades';

/** Creates a signed file with a counter-signature. */
async function counterSigned(format: Format, by?: Signer, level: 'B' | 'LTA' = 'B'): Promise<string> {
  const { pki, services } = await authority();
  const signed = file();
  await signFileAtLevel(
    { format, input: file(ORDER, 'xml'), output: signed, signer: pki.signer('p-256'), at: NOW, level },
    services,
  );
  const output = file();
  const request = { input: signed, output, signer: by ?? pki.signer('rsa-2048'), at: NOW + 1000 };
  if (format === 'Cades') counterSignCades(request);
  else await counterSignXades(request);
  return output;
}

/** Returns the indications of the file, its only signature and its counter-signature. */
function summary({ indication, signatures: [signature] }: ValidationReport): string {
  const counters = signature?.counterSignatures.map(
    (counter) =>
      `${counter.indication}${counter.subIndication === undefined ? '' : `: ${counter.subIndication}`}`,
  );
  return [indication, signature?.indication, ...(counters ?? [])].join(', ');
}

const GOOD = 'TOTAL-PASSED, TOTAL-PASSED, TOTAL-PASSED';

for (const format of ['Cades', 'Xades'] as const) {
  test.serial(
    `${format}: a counter-signature is reported below the signature it covers, with its signer and content`,
    async (t) => {
      const path = await counterSigned(format);
      const report = await validated(path, { format });
      t.is(summary(report), GOOD);
      const [signature] = report.signatures;
      const [counter] = signature?.counterSignatures ?? [];
      t.is(counter?.scope.kind, 'signature');
      t.not(counter?.certificate?.thumbprint, signature?.certificate?.thumbprint);
      t.is(counter?.signingTime, Math.floor((NOW + 1000) / 1000) * 1000);
      t.true(
        signature?.results.passedChecks.some(
          ({ type, inner }) => type === 'counter-signature' && inner?.isValid,
        ),
      );
    },
  );

  test.serial(
    `${format}: a counter-signature after an archive time-stamp leaves the archive valid`,
    async (t) => {
      const report = await validated(await counterSigned(format, undefined, 'LTA'), { format });
      t.is(summary(report), GOOD);
      t.is(report.signatures[0]?.level, 'LTA');
      t.true(report.signatures[0]?.timestamps.every(({ indication }) => indication === 'TOTAL-PASSED'));
    },
  );

  test.serial(
    `${format}: a counter-signature below an unknown root is open, and the signature it covers stays valid`,
    async (t) => {
      const path = await counterSigned(format, otherPki().signer('p-256'));
      const report = await validated(path, { format });
      t.is(summary(report), 'INDETERMINATE, TOTAL-PASSED, INDETERMINATE: NO_CERTIFICATE_CHAIN_FOUND');
      t.true(report.signatures[0]?.results.warnings.some(({ type }) => type === 'counter-signature'));
    },
  );

  test.serial(`${format}: a signature cannot be exchanged below its counter-signature`, async (t) => {
    const { indication, signatures } = await validated(await tamperedContent(format), { format });
    t.is(indication, 'TOTAL-FAILED');
    // The counter-signature covers the value of the signature, which is unchanged.
    t.is(signatures[0]?.counterSignatures[0]?.indication, 'TOTAL-PASSED');
  });
}

async function tamperedContent(format: Format): Promise<string> {
  const bytes = readFileSync(await counterSigned(format));
  bytes.write('carrels', bytes.indexOf('barrels'));
  return file(bytes);
}

/** Returns the counter-signature of the first signer in a CMS file. */
function counterOf(path: string): ReturnType<typeof parseSignerInfo> {
  const [value] = signedDataIn(path).signers[0]?.unsignedAttributes?.values.get(OID.counterSignature) ?? [];
  if (value === undefined) throw new Error('no counter-signature');
  return parseSignerInfo(value);
}

test.serial(
  'Cades: a counter-signature whose value was changed fails, and so does one of another signature',
  async (t) => {
    const path = await counterSigned('Cades');
    const changed = Buffer.from(readFileSync(path));
    const place = changed.indexOf(counterOf(path).signature);
    t.true(place > 0);
    changed[place + 20] = (changed[place + 20] ?? 0) ^ 1;
    const report = await validated(file(changed), { format: 'Cades' });
    t.is(summary(report), 'TOTAL-FAILED, TOTAL-PASSED, TOTAL-FAILED: SIG_CRYPTO_FAILURE');

    const other = signedDataIn(await counterSigned('Cades')).signers[0]?.unsignedAttributes?.encodings ?? [];
    const moved = file(amendSignedData(readFileSync(path), { unsigned: new Map([[0, other]]) }));
    const grafted = await validated(moved, { format: 'Cades' });
    t.is(summary(grafted), 'TOTAL-FAILED, TOTAL-PASSED, TOTAL-FAILED: HASH_FAILURE');
    const garbage = Buffer.from(readFileSync(path));
    garbage[garbage.indexOf(counterOf(path).signature) - 2] = 0x03;
    t.not(summary(await validated(file(garbage), { format: 'Cades' })), GOOD);
  },
);

test.serial(
  'Xades: a counter-signature that was changed, moved to another signature or given another target fails',
  async (t) => {
    const path = await counterSigned('Xades');
    const text = readFileSync(path, 'utf8');
    const counter = /<xades:CounterSignature.*<\/xades:CounterSignature>/s.exec(text)?.[0] ?? '';
    t.true(counter.length > 0);
    const edited = async (change: (counter: string) => string) =>
      summary(await validated(file(text.replace(counter, change(counter))), { format: 'Xades' }));
    t.is(await edited((same) => same), GOOD);
    const value = await edited((same) =>
      same.replace(/(<ds:SignatureValue[^>]*>)(.)/, (_, tag, first) => `${tag}${first === 'A' ? 'B' : 'A'}`),
    );
    t.regex(value, /^TOTAL-FAILED, TOTAL-PASSED, TOTAL-FAILED/);
    const time = await edited((same) => same.replace(/<xades:SigningTime>20/, '<xades:SigningTime>19'));
    t.is(time, 'TOTAL-FAILED, TOTAL-PASSED, TOTAL-FAILED: HASH_FAILURE');
    const otherText = readFileSync(await counterSigned('Xades', otherPki().signer('p-384')), 'utf8');
    const other = /<xades:CounterSignature.*<\/xades:CounterSignature>/s.exec(otherText)?.[0] ?? '';
    t.regex(await edited(() => other), /^TOTAL-FAILED, TOTAL-PASSED, TOTAL-FAILED/);
    const target = await edited((same) => same.replace(/URI="#([^"]*)-value"/, 'URI=""'));
    t.regex(target, /^TOTAL-FAILED, TOTAL-PASSED, TOTAL-FAILED/);
  },
);

for (const [kind, format] of [
  ['S', 'Cades'],
  ['S', 'Xades'],
  ['E', 'Cades'],
  ['E', 'Xades'],
] as const) {
  toolTest.serial(
    `ASiC-${kind} with ${format}: counter-signatures are created and validated inside the container`,
    async (t) => {
      const { pki, services } = await authority();
      const input = await made(kind, format, { level: 'T' });
      const output = file(undefined, 'asice');
      const signer = pki.signer('rsa-2048');
      const level = format === 'Xades' ? 'T' : 'B';
      await counterSignAsic({ input, output, signer, at: NOW, level }, services);
      const report = await validated(output);
      t.is(summary(report), GOOD);
      const [counter] = report.signatures[0]?.counterSignatures ?? [];
      t.is(counter?.scope.kind, 'signature');
      t.is(counter?.level, level);
      t.is(report.signatures[0]?.scope.kind, 'container');

      const member = {
        S: { Cades: 'META-INF/signature.p7s', Xades: 'META-INF/signatures.xml' },
        E: { Cades: 'META-INF/signature001.p7s', Xades: 'META-INF/signatures001.xml' },
      }[kind][format];
      const changed = remade(
        output,
        replacing(member, (bytes) => {
          const value =
            format === 'Xades'
              ? bytes.lastIndexOf('<ds:SignatureValue') + 120
              : bytes.indexOf(counterOf(file(bytes)).signature) + 9;
          const copy = Buffer.from(bytes);
          copy[value] = format === 'Xades' ? (copy[value] === 0x41 ? 0x42 : 0x41) : (copy[value] ?? 0) ^ 1;
          return copy;
        }),
      );
      t.regex(summary(await validated(changed)), /^TOTAL-FAILED, TOTAL-PASSED, TOTAL-FAILED/);
      if (format !== 'Cades') return;
      const root = await extracted(output);
      const content = kind === 'S' ? at(root, 'report.txt') : at(root, 'META-INF', 'ASiCManifest001.xml');
      t.true((await opensslCms({ signature: at(root, member), content, ca: pki.rootFile })).ok);
    },
  );
}

test.serial(
  'a signature below an archive time-stamp of its container is not counter-signed, another one is',
  async (t) => {
    const { pki, services } = await authority();
    const signer = pki.signer('rsa-2048');
    const sealed = await made('E', 'Cades', { level: 'LTA' });
    const counter = (input: string, output: string, member?: string) =>
      codeOf(() =>
        counterSignAsic({
          input,
          output,
          signer,
          at: NOW,
          ...(member === undefined ? {} : { file: member }),
        }),
      );
    t.is(await counter(sealed, file()), 'request.invalid');
    const two = file();
    await addAsicSignature({ input: sealed, output: two, signer, at: NOW }, services);
    t.is(await counter(two, file(), 'META-INF/signature001.p7s'), 'request.invalid');
    t.is(await counter(two, file(), 'META-INF/signature009.p7s'), 'request.invalid');
    const output = file();
    t.is(await counter(two, output, 'META-INF/signature002.p7s'), 'none');
    const { indication, signatures } = await validated(output);
    t.is(indication, 'TOTAL-PASSED');
    t.deepEqual(
      signatures.map(({ counterSignatures }: SignatureRecord) => counterSignatures.length),
      [0, 1],
    );
    t.deepEqual(memberOf(output, 'META-INF/signature001.p7s'), memberOf(sealed, 'META-INF/signature001.p7s'));
    const level = { input: await made('S', 'Cades'), output: file(), signer, at: NOW, level: 'T' } as const;
    t.is(await codeOf(() => counterSignAsic(level, services)), 'request.invalid');
  },
);
