import test from 'ava';
import { addAsicSignature } from '#crypto/asic/add-signature.js';
import { augmentAsic } from '#crypto/asic/augment.js';
import type { SignatureLevel } from '#crypto/core/types.js';
import { codeOf } from '../cades/cades-harness.ts';
import {
  authority,
  file,
  made,
  memberOf,
  membersOf,
  NOW,
  REPORT,
  remade,
  replacing,
  validated,
} from './container-harness.ts';

async function augmented(input: string, to: Exclude<SignatureLevel, 'B'>): Promise<string> {
  const { services } = await authority();
  const output = file(undefined, 'asice');
  await augmentAsic({ input, output, to, at: NOW }, services);
  return output;
}

/** Returns the file's indication and the levels of its signatures. */
async function levels(path: string): Promise<string> {
  const { indication, signatures } = await validated(path);
  return [indication, ...signatures.map(({ level }) => level)].join(' ');
}

for (const [kind, format] of [
  ['S', 'Cades'],
  ['S', 'Xades'],
  ['E', 'Cades'],
  ['E', 'Xades'],
] as const) {
  test.serial(
    `ASiC-${kind} with ${format}: a container is augmented from level to level, and its archive time-stamp is renewed`,
    async (t) => {
      let path = await made(kind, format);
      for (const level of ['T', 'LT', 'LTA', 'LTA'] as const) {
        path = await augmented(path, level);
        t.is(await levels(path), `TOTAL-PASSED ${level}`);
      }
      const { signatures } = await validated(path);
      const archives = signatures[0]?.timestamps.filter((stamp) => stamp.kind === 'archive') ?? [];
      t.deepEqual(
        archives.map(({ indication }) => indication),
        ['TOTAL-PASSED', 'TOTAL-PASSED'],
      );
      const data = kind === 'S' ? 'report.txt' : 'bestellungen/größe.xml';
      t.regex(
        await levels(
          remade(
            path,
            replacing(data, () => Buffer.concat([REPORT, REPORT])),
          ),
        ),
        /^TOTAL-FAILED/,
      );
      t.is(await levels(remade(path, (members) => members)), 'TOTAL-PASSED LTA');
    },
  );
}

test.serial(
  'the content of an archive time-stamp of the container stays unchanged, and later signatures are augmented',
  async (t) => {
    const { pki, services } = await authority();
    const sealed = await made('E', 'Cades', { level: 'LTA' });
    t.is(await codeOf(() => augmented(sealed, 'LT')), 'request.invalid');
    const two = file();
    await addAsicSignature({ input: sealed, output: two, signer: pki.signer('rsa-2048'), at: NOW }, services);
    const raised = await augmented(two, 'LT');
    t.is(await levels(raised), 'TOTAL-PASSED LTA LT');
    t.deepEqual(memberOf(raised, 'META-INF/signature001.p7s'), memberOf(sealed, 'META-INF/signature001.p7s'));
    const both = await augmented(raised, 'LTA');
    t.is(await levels(both), 'TOTAL-PASSED LTA LTA');
    t.is(membersOf(both).filter((name) => /ASiCArchiveManifest/.test(name)).length, 2);
  },
);

test.serial('a broken signature and a container without signatures are not augmented', async (t) => {
  const path = await made('E', 'Xades');
  const broken = remade(
    path,
    replacing('bestellungen/größe.xml', () => REPORT),
  );
  t.is(await codeOf(() => augmented(broken, 'LTA')), 'signature.mismatch');
  const manifest = 'META-INF/ASiCManifest001.xml';
  const altered = remade(
    await made('E', 'Cades'),
    replacing(manifest, (bytes) => Buffer.from(bytes.toString().replace('text/plain', 'text/html'))),
  );
  t.is(await codeOf(() => augmented(altered, 'T')), 'signature.mismatch');
  const none = remade(path, (members) => members.filter(({ name }) => !name.startsWith('META-INF/sig')));
  t.is(await codeOf(() => augmented(none, 'T')), 'request.invalid');
  t.is(await codeOf(() => augmented(file('nothing'), 'T')), 'asic.malformed');
});
