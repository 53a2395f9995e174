import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signFile } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import type { SignatureAppearance } from '#crypto/core/types.js';
import { pki } from '../../../pki/pki.ts';
import { contract } from '../validation/attack-files.ts';

/** Rectangle of the signature's widget, in the page's own coordinates. */
function rectOf(t: ExecutionContext, place: Required<SignatureAppearance>['place']): readonly number[] {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-place-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const input = join(folder, 'in.pdf');
  const output = join(folder, 'out.pdf');
  const pdf = contract();
  writeFileSync(input, pdf);
  const appearance = { place, lines: ['Signed'] };
  signFile({
    format: 'Pades',
    input,
    output,
    signer: pki().signer('p-256'),
    at: Date.now(),
    pades: { fieldName: 'Here', appearance },
  });
  const added = readFileSync(output).subarray(pdf.length).toString('latin1');
  return (/\/Rect ?\[([^\]]+)\]/.exec(added)?.[1] ?? '').split(' ').map(Number);
}

/** Height of the pages of the contract, points. */
const HIGH = Number(/\/MediaBox ?\[0 0 \d+ (\d+)\]/.exec(contract().toString('latin1'))?.[1]);
const WIDE = Number(/\/MediaBox ?\[0 0 (\d+) /.exec(contract().toString('latin1'))?.[1]);

test('a place from the upper left corner becomes that rectangle of the page', (t) => {
  const rect = rectOf(t, { page: 1, left: 50, top: 60, width: 120, height: 40 });
  t.deepEqual(rect, [50, HIGH - 100, 170, HIGH - 60]);
});

test('a place outside the page is moved onto it, and a missing page becomes the last one', (t) => {
  const rect = rectOf(t, { page: 99, left: 5000, top: 5000, width: 100, height: 50 });
  t.deepEqual(rect, [WIDE - 100, 0, WIDE, 50]);
  t.deepEqual(rectOf(t, { page: null, left: -5, top: -5, width: 9999, height: 9999 }), [0, 0, WIDE, HIGH]);
});
