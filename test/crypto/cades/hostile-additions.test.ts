import { readFileSync } from 'node:fs';
import test from 'ava';
import { encoded } from '#crypto/asn1/read.js';
import { addCadesSignerAtLevel } from '#crypto/cades/add-signer.js';
import { augmentCades } from '#crypto/cades/augment.js';
import { counterSignCades } from '#crypto/cades/counter-sign.js';
import { signCadesAtLevel } from '#crypto/cades/sign.js';
import { CryptoError } from '#crypto/core/types.js';
import type { SigningServices } from '#crypto/evidence/authorities.js';
import { startAuthority } from '../../pki/authority.ts';
import { pki } from '../../pki/pki.ts';
import { bytes, file, signedDataIn } from './cades-harness.ts';

/** The same numbers for every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('adding to a damaged signature succeeds or fails with a code', async (t) => {
  const authority = await startAuthority();
  const signing = {
    format: 'Cades',
    input: file(bytes(200)),
    output: file(),
    signer: authority.pki.signer('p-256'),
    at: Date.now(),
    level: 'LTA',
  } as const;
  await signCadesAtLevel(signing, authority.services);
  await authority.close();
  const der = readFileSync(signing.output);
  const [signer] = signedDataIn(signing.output).signers;
  const token = encoded(signer!.unsignedAttributes!.values.get('1.2.840.113549.1.9.16.2.14')![0]!);
  // Says yes to everything, so that every step after the reading is reached.
  const services: SigningServices = {
    timestamps: { name: 'test', tokenLength: 5000, stamp: async () => token },
    evidence: { collect: async () => ({ certificates: [], crls: [], ocsps: [] }) },
  };
  const next = numbers(20_260_314);
  const codes = new Map<string, number>();
  for (let round = 0; round < 400; round++) {
    const broken = Buffer.from(der);
    for (let changes = 1 + next(3); changes > 0; changes--) {
      const at = next(broken.length);
      broken[at] = next(3) === 0 ? next(256) : (broken[at] ?? 0) ^ (1 << next(8));
    }
    const cut = next(10) === 0 ? broken.subarray(0, next(broken.length)) : broken;
    const input = file(cut.length === 0 ? der : cut);
    const at = signing.at;
    for (const work of [
      () => augmentCades({ format: 'Cades', input, output: file(), to: 'LTA', at, sync: false }, services),
      () =>
        addCadesSignerAtLevel(
          { input, output: file(), signer: pki().signer('p-256'), at, level: 'LTA', sync: false },
          services,
        ),
      async () => counterSignCades({ input, output: file(), signer: pki().signer('p-256'), at, sync: false }),
    ]) {
      try {
        await work();
        codes.set('none', (codes.get('none') ?? 0) + 1);
      } catch (error) {
        if (!(error instanceof CryptoError)) throw error;
        codes.set(error.code, (codes.get(error.code) ?? 0) + 1);
      }
    }
  }
  t.log(JSON.stringify(Object.fromEntries(codes)));
  t.true((codes.get('cms.malformed') ?? 0) > 100);
  t.true((codes.get('signature.mismatch') ?? 0) > 10);
});
