import { readdirSync } from 'node:fs';
import test from 'ava';
import { assetNames, PAGE_ASSETS, readAsset } from '../../../http/core/page-assets.ts';

/** Maximum size of the script of a page beside pdf.js, bytes before compression. */
const MAX_PAGE_BYTES = 50_000;

const SCRIPTS = (['batch', 'portal'] as const).flatMap((service) =>
  assetNames(service)
    .filter((name) => name.endsWith('.js'))
    .map((name) => ({ name: `${service}/${name}`, text: String(readAsset(service, name).body) })),
);

test('each page has one script, which is within its size limit', (t) => {
  t.true(SCRIPTS.length > 20);
  for (const { name, text } of SCRIPTS) {
    const bytes = Buffer.byteLength(text);
    t.log(`${name}: ${bytes} bytes`);
    t.true(bytes > 500 && bytes < MAX_PAGE_BYTES, `${name}: ${bytes} bytes`);
    // pdf.js and the library of certificate files have addresses that are computed.
    t.notRegex(text, /\bimport\s*(?:["'{*]|\w+\s+from\b|\(\s*["'])/, name);
  }
});

test('bundles keep names of functions, and source maps are not among the served files', (t) => {
  for (const { name, text } of SCRIPTS) t.notRegex(text, /sourceMappingURL/, name);
  t.true(readdirSync(new URL('portal', PAGE_ASSETS)).includes('signing-client.js.map'));
  t.false(assetNames('portal').some((name) => name.endsWith('.map')));
  const signing = SCRIPTS.find(({ name }) => name === 'portal/signing-client.js')?.text ?? '';
  t.regex(signing, /function startElectronic\(/);
});
