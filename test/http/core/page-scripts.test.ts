import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { assetNames, PAGE_ASSETS, readAsset } from '../../../http/core/page-assets.ts';

/** Maximum size of the script of a page beside pdf.js, bytes before compression. */
const MAX_PAGE_BYTES = 66_000;
/** The editor, which senders load. */
const MAX_EDITOR_BYTES = 150_000;
const EDITORS = ['portal/editor.js', 'portal/session-editor.js'];

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
    const limit = EDITORS.includes(name) ? MAX_EDITOR_BYTES : MAX_PAGE_BYTES;
    t.true(bytes > 500 && bytes < limit, `${name}: ${bytes} bytes`);
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

/** Colours by value or name, sizes of text, and shadows that are not tokens. */
const RAW_VALUES = [
  /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch|oklab|lab|lch)a?\(/i,
  /(?:color|background|border(?:-[a-z-]+)?|outline|fill|stroke):[^;]*\b(?:white|black|red|green|blue|gray|grey|Canvas|CanvasText|GrayText)\b/,
  /font(?:-size)?:[^;]*\b[\d.]+(?:px|rem|pt)\b/,
  /(?:box|text)-shadow:(?!\s*(?:none|var\())/,
];

test('colours, sizes of text and shadows are in tokens.css alone', (t) => {
  const folder = fileURLToPath(new URL('../../../../web/styles/', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.css') && name !== 'tokens.css',
  );
  t.true(files.length >= 6);
  for (const name of files) {
    // Of the ids of elements no colour is meant.
    const rules = readFileSync(`${folder}${name}`, 'utf8').replaceAll(/^[^{}]*\{/gm, '{');
    for (const raw of RAW_VALUES) t.notRegex(rules, raw, name);
  }
});
