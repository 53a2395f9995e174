import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { largePdf, largeSigner, largeXml, runLargeJob, zeros } from '../../../bench/large.ts';
import type { LargeJob } from '../../../bench/large-job.ts';

const folder = mkdtempSync(join(tmpdir(), 'sealwright-large-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const MIB = 1 << 20;
const at = Date.now();
const made = largeSigner(at);

interface Large {
  readonly bytes: number;
  readonly make: (path: string, bytes: number) => void;
  readonly form: Omit<LargeJob['request'], 'input' | 'output'>;
  /** Limit of resident memory in MiB, the program included. */
  readonly most: number;
}

/** A gigabyte takes no more memory than these sizes; `npm run bench -- large` shows it. */
const FILES: { readonly [name: string]: Large } = {
  'a CAdES signature around 128 MB': { bytes: 128 * MIB, make: zeros, form: { format: 'Cades' }, most: 120 },
  'a detached CAdES signature over 128 MB': {
    bytes: 128 * MIB,
    make: zeros,
    form: { format: 'Cades', cades: { detached: true } },
    most: 120,
  },
  'a PDF of 128 MB': { bytes: 128 * MIB, make: largePdf, form: { format: 'Pades' }, most: 120 },
  'a detached XAdES signature over 128 MB': {
    bytes: 128 * MIB,
    make: zeros,
    form: { format: 'Xades', xades: { packaging: 'detached' } },
    most: 120,
  },
  // XML is read as a whole.
  'an XML document of 20 MB': { bytes: 20 * MIB, make: largeXml, form: { format: 'Xades' }, most: 200 },
};

for (const [name, { bytes, make, form, most }] of Object.entries(FILES)) {
  test(`${name} is made and fully validated in bounded memory`, async (t) => {
    const number = Object.keys(FILES).indexOf(name);
    const input = join(folder, `${number}`);
    const output = join(folder, `${number}.signed`);
    make(input, bytes);
    const request = { ...form, input, output };
    const signer = await made;
    const signed = runLargeJob({ work: 'sign', request, at, signer });
    const validated = runLargeJob({ work: 'validate', request, at, signer });
    rmSync(output);
    t.is(validated.indication, 'TOTAL-PASSED');
    t.log(`peaks of ${Math.round(signed.peak)} and ${Math.round(validated.peak)} MiB`);
    t.true(signed.peak < most, `${signed.peak} MiB`);
    t.true(validated.peak < most, `${validated.peak} MiB`);
  });
}
