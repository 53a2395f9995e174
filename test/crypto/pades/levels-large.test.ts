import ava from 'ava';
import { augmentPades } from '#crypto/pades/augment.js';
import { pdfsig, withTools } from '../../verifiers/index.ts';
import { hugePdf } from './huge.ts';
import { patientAuthority, signAt } from './levels-harness.ts';
import { freshPath } from './validation/verdicts.ts';

const test = withTools(ava, 'pdfsig', 'certutil');

const MIB = 1 << 20;

test('a PDF of a hundred megabytes is signed at level LTA and renewed in a few megabytes of memory', async (t) => {
  const authority = await patientAuthority();
  try {
    const path = hugePdf(100 * MIB);
    // Once before, so that only what grows with the file is counted.
    await signAt(authority, 'LTA', hugePdf(MIB));
    const before = process.memoryUsage().rss;
    const signed = await signAt(authority, 'LTA', path);
    const output = freshPath('renewed.pdf');
    const request = { format: 'Pades', input: signed.output, output, to: 'LTA', at: Date.now() } as const;
    const renewed = await augmentPades(request, authority.services);
    t.true(process.memoryUsage().rss - before < 64 * MIB);
    t.true(renewed.output.length > signed.result.output.length);
    const [own] = await pdfsig(output, authority.pki);
    t.true(own?.okEarlier);
  } finally {
    await authority.close();
  }
});
