import { readFileSync } from 'node:fs';
import test from 'ava';
import type { SignatureFormat, SignatureLevel } from '#crypto/core/types.js';
import { signFileAtLevel } from '#crypto/files/sign-file.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import { bytes, file } from '../cades/cades-harness.ts';
import { classicPdf, documentObjects } from '../pdf/build.ts';
import { DAY, verdictOf, YEAR } from './judging.ts';

const NOW = Date.now();

let authority: TestAuthority;
test.before(async () => {
  authority = await startAuthority({ now: NOW });
});
test.after.always(() => authority.close());

const INPUT: { readonly [format in SignatureFormat]: () => Buffer } = {
  Pades: () => classicPdf(documentObjects()),
  Cades: () => bytes(2000),
  Xades: () => Buffer.from('<order xmlns="urn:x"><item n="1">barrels</item></order>'),
};

for (const format of ['Pades', 'Cades', 'Xades'] as const) {
  test(`${format}: every level gets the same verdict now, after the expiry of the signer, and below another root`, async (t) => {
    const signer = authority.pki.freshSigner({ notAfter: NOW + 30 * DAY });
    for (const level of ['B', 'T', 'LT', 'LTA'] as const satisfies readonly SignatureLevel[]) {
      const path = file();
      await signFileAtLevel(
        { format, input: file(INPUT[format]()), output: path, signer, at: NOW, level },
        authority.services,
      );
      const trust = {
        anchors: [authority.pki.root.certificate],
        intermediates: [],
        revocation: 'soft',
      } as const;
      const now = await validateFile({ format, path, at: NOW + 3_600_000, trust });
      const [signature] = now.signatures;
      t.is(signature && verdictOf(signature), 'TOTAL-PASSED', `${level} now`);
      t.is(now.indication, 'TOTAL-PASSED', `${level} now`);
      t.is(signature?.level, level);
      const later = await validateFile({ format, path, at: NOW + YEAR, trust });
      const [aged] = later.signatures;
      const expected = level === 'B' ? 'INDETERMINATE: OUT_OF_BOUNDS_NO_POE' : 'TOTAL-PASSED';
      t.is(aged && verdictOf(aged), expected, `${level} a year later`);
      const untrusted = await validateFile({
        format,
        path,
        at: NOW + 3_600_000,
        trust: { ...trust, anchors: [] },
      });
      t.is(untrusted.signatures[0]?.subIndication, 'NO_CERTIFICATE_CHAIN_FOUND');
      const damaged = Buffer.from(readFileSync(path));
      const at = damaged.indexOf(
        format === 'Xades' ? 'barrels' : format === 'Pades' ? '(Hello' : bytes(2000).subarray(0, 64),
      );
      damaged[at + 3] = (damaged[at + 3] ?? 0) ^ 1;
      const changed = await validateFile({ format, path: file(damaged), at: NOW + 3_600_000, trust });
      t.is(changed.indication, 'TOTAL-FAILED', `${level} changed`);
    }
  });
}
