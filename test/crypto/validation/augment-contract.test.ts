/** The contract of levels and of augmentation is the same for all three formats. */
import { existsSync, readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { addCadesSigner } from '#crypto/cades/add-signer.js';
import type { CryptoError, SignatureFormat, SignatureLevel, Signer } from '#crypto/core/types.js';
import type { ValidationReport } from '#crypto/core/validation-report.js';
import type { SigningServices } from '#crypto/evidence/authorities.js';
import { augmentFile, signFileAtLevel } from '#crypto/files/sign-file.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import { bytes, file } from '../cades/cades-harness.ts';
import { contract } from '../pades/validation/attack-files.ts';
import { verdictOf } from './judging.ts';

let authority: TestAuthority;
let another: TestAuthority;
test.before(async () => {
  [authority, another] = await Promise.all([startAuthority(), startAuthority()]);
});
test.after.always(() => Promise.all([authority.close(), another.close()]));

const FORMATS = ['Pades', 'Cades', 'Xades'] as const;
const INPUT: { readonly [format in SignatureFormat]: () => Buffer } = {
  Pades: contract,
  Cades: () => bytes(2000),
  Xades: () => Buffer.from('<order><item Id="i">barrels</item></order>'),
};
/** Signed content with a change. */
const CHANGED: { readonly [format in SignatureFormat]: Buffer } = {
  Pades: Buffer.from('Pay 100'),
  Cades: bytes(2000).subarray(600, 700),
  Xades: Buffer.from('barrels'),
};

async function signedAt(
  format: SignatureFormat,
  level: SignatureLevel,
  content: Buffer = INPUT[format](),
  signer: Signer = authority.pki.signer('p-256'),
): Promise<string> {
  const output = file();
  const xades = { packaging: 'element', elementId: 'i' } as const;
  const request = { format, input: file(content), output, signer, at: Date.now(), level, xades };
  await signFileAtLevel(request, authority.services);
  return output;
}

async function augmented(
  format: SignatureFormat,
  input: string,
  to: Exclude<SignatureLevel, 'B'>,
  services = authority.services,
): Promise<string> {
  const output = file();
  await augmentFile({ format, input, output, to, at: Date.now() }, services);
  return output;
}

async function reported(format: SignatureFormat, path: string): Promise<ValidationReport> {
  const anchors = [authority.pki.root.certificate, another.pki.root.certificate];
  return validateFile({
    format,
    path,
    trust: { anchors, intermediates: [], revocation: 'hard' },
    at: Date.now(),
  });
}

const changed = (format: SignatureFormat, path: string): Buffer => {
  const content = Buffer.from(readFileSync(path));
  const at = content.indexOf(CHANGED[format]);
  content.writeUInt8(content.readUInt8(at + 4) ^ 1, at + 4);
  return content;
};

/** Signs without success; returns the refusal. No output is left. */
async function refused(
  t: ExecutionContext,
  format: SignatureFormat,
  {
    level,
    services,
    signer,
  }: { readonly level: SignatureLevel; readonly services: SigningServices; readonly signer: Signer },
): Promise<CryptoError | undefined> {
  const output = file();
  const request = { format, input: file(INPUT[format]()), output, signer, at: Date.now(), level };
  const error = await t.throwsAsync<CryptoError>(signFileAtLevel(request, services), undefined, level);
  t.false(existsSync(output));
  return error;
}

for (const format of FORMATS) {
  test.serial(`${format}: a level without its authority is refused, and leaves no output`, async (t) => {
    const { timestamps, evidence } = authority.services;
    for (const [level, services] of [
      ['T', {}],
      ['T', { evidence }],
      ['LT', { timestamps }],
      ['LTA', { timestamps }],
      ['LTA', { evidence }],
    ] as const) {
      const error = await refused(t, format, { level, services, signer: authority.pki.signer('p-256') });
      t.is(error?.code, 'request.invalid', level);
    }
  });

  test.serial(
    `${format}: an authority that fails or answers wrongly, or has revoked the signer, fails the signing`,
    async (t) => {
      const broken = await startAuthority();
      t.teardown(() => broken.close());
      const signer = broken.pki.freshSigner();
      for (const [fault, level, code] of [
        ['down', 'T', 'authority.unreachable'],
        ['busy', 'LT', 'authority.unreachable'],
        ['missing', 'T', 'authority.refused'],
        ['garbage', 'T', 'authority.refused'],
        ['wrong-imprint', 'T', 'authority.refused'],
      ] as const) {
        broken.break('timestamp', fault);
        const error = await refused(t, format, { level, services: broken.freshServices(), signer });
        t.is(error?.code, code, fault);
        t.true(error?.message.includes(broken.timestampUrl), error?.message);
        broken.mend('timestamp');
      }
      broken.revoke(signer.certificate, Date.now() - 60_000);
      const error = await refused(t, format, { level: 'LT', services: broken.freshServices(), signer });
      t.is(error?.code, 'certificate.revoked');
    },
  );

  test.serial(
    `${format}: a file that has its level already is returned unchanged, without any request`,
    async (t) => {
      for (const [level, to] of [
        ['T', 'T'],
        ['LT', 'T'],
        ['LT', 'LT'],
        ['LTA', 'T'],
        ['LTA', 'LT'],
      ] as const) {
        const path = await signedAt(format, level);
        const before = { ...authority.requests };
        const same = await augmented(format, path, to);
        t.true(readFileSync(same).equals(readFileSync(path)), `${level} to ${to}`);
        t.deepEqual({ ...authority.requests }, before);
      }
    },
  );

  test.serial(
    `${format}: a broken signature, and one with a time-stamp over something else, is refused at every level`,
    async (t) => {
      for (const level of ['B', 'T', 'LTA'] as const) {
        const path = await signedAt(format, level);
        for (const to of ['T', 'LT', 'LTA'] as const) {
          const error = await t.throwsAsync<CryptoError>(augmented(format, file(changed(format, path)), to));
          t.is(error?.code, 'signature.mismatch', `${level} to ${to}: ${error?.message}`);
        }
      }
    },
  );

  test.serial(
    `${format}: a renewal covers evidence about the authority of the previous archive time-stamp`,
    async (t) => {
      const first = await signedAt(format, 'LTA');
      const once = await augmented(format, first, 'LTA', {
        ...authority.services,
        timestamps: another.services.timestamps,
      });
      // The renewal also requests evidence from the previous authority.
      const evidence = {
        collect: async (...asked: Parameters<TestAuthority['services']['evidence']['collect']>) => {
          const both = [authority, another].map((one) => one.services.evidence.collect(...asked));
          const [found] = (await Promise.allSettled(both)).flatMap((one) =>
            one.status === 'fulfilled' ? [one.value] : [],
          );
          if (found === undefined) throw new Error('nobody knows');
          return found;
        },
      };
      const twice = await augmented(format, once, 'LTA', { ...authority.services, evidence });
      const [signature] = (await reported(format, twice)).signatures;
      t.is(signature && verdictOf(signature), 'TOTAL-PASSED', JSON.stringify(signature?.results.errors));
      const stamps = signature?.timestamps.filter(({ kind }) => kind !== 'signature') ?? [];
      t.deepEqual(stamps.slice(0, 2).map(verdictOf), ['TOTAL-PASSED', 'TOTAL-PASSED']);
    },
  );
}

test.serial(
  'a broken signature beside a valid one stays unchanged, and the valid one is augmented',
  async (t) => {
    const signer = authority.pki.signer('p-384');
    const pdf = await signedAt('Pades', 'B', changed('Pades', await signedAt('Pades', 'B')), signer);
    const xml = await signedAt('Xades', 'B', changed('Xades', await signedAt('Xades', 'B')));
    for (const [format, path] of [
      ['Pades', pdf],
      ['Xades', xml],
    ] as const) {
      const raised = await augmented(format, path, 'T');
      const records = (await reported(format, raised)).signatures.filter(({ isTimestamp }) => !isTimestamp);
      const levels = records.map(({ indication, level }) => `${indication} ${level}`);
      t.true(
        levels.some((one) => one.endsWith(' T') && !one.startsWith('TOTAL-FAILED')),
        levels.join(', '),
      );
      t.true(
        levels.some((one) => one.startsWith('TOTAL-FAILED')),
        levels.join(', '),
      );
    }
    const path = await signedAt('Cades', 'B');
    const two = file();
    addCadesSigner({ input: path, output: two, signer, at: Date.now() });
    // The value of the first signer is changed; the other one stays valid.
    const content = Buffer.from(readFileSync(two));
    const [record] = (await reported('Cades', path)).signatures;
    t.is(record?.indication === undefined, false);
    const value = content.lastIndexOf(Buffer.from([0x04, 0x46, 0x30, 0x44]));
    const at = value < 0 ? content.length - 5 : value + 20;
    content.writeUInt8(content.readUInt8(at) ^ 1, at);
    const raised = await augmented('Cades', file(content), 'T');
    const levels = (await reported('Cades', raised)).signatures.map(({ level }) => level);
    t.deepEqual([...levels].sort(), ['B', 'T']);
  },
);
