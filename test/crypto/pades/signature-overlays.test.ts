/** Signatures drawn into a field that was there when an earlier signature was made. */
import test from 'ava';
import type { SignatureAppearance } from '#crypto/core/types.js';
import { pki } from '../../pki/pki.ts';
import { contract, EMPTY_FIELD, PAGE, reportOn, signed } from './validation/attack-files.ts';

/** Rectangles of the field: the page shows text at 20, 100, and a filled-in text field at 20, 20. */
const OVER_CONTENT = ['[10 90 60 120]', '[0 0 200 200]', '[20 96 40 104]', '[15 15 60 45]', '[60 120 10 90]'];
const OVER_NOTHING = ['[100 20 180 60]', '[20 130 180 190]', '[180 60 100 20]'];

const DRAWINGS: readonly SignatureAppearance[] = [
  { lines: ['Pay 900'] },
  { lines: ['Pay 900 1', 'Pay 900 1', 'Pay 900 1'] },
  { image: whitePixel() },
];

/** A PNG of one opaque white pixel, which fills the field. */
function whitePixel(): Buffer {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC';
  return Buffer.from(png, 'base64');
}

/** Types of the warnings of the first signature after a second one was drawn into the field. */
function warnings(place: string, appearance: SignatureAppearance | undefined): readonly string[] {
  const moved = contract((objects) =>
    objects.set(EMPTY_FIELD, (objects.get(EMPTY_FIELD) ?? '').replace('[100 20 180 60]', place)),
  );
  const format = { fieldName: 'Approval', ...(appearance && { appearance }) };
  const [first, second] = reportOn(signed(signed(moved), format, pki().signer('rsa-2048'))).signatures;
  if (second?.indication !== 'TOTAL-PASSED') return ['the second failed'];
  if (first?.indication !== 'TOTAL-PASSED') return [`${first?.indication}`];
  return first.results.warnings.map(({ type }) => type).filter((type) => type.startsWith('pdf.'));
}

test('a signature drawn over content in an existing field fails the signature before', (t) => {
  let count = 0;
  for (const place of OVER_CONTENT) {
    for (const appearance of DRAWINGS) {
      count++;
      t.deepEqual(
        warnings(place, appearance),
        ['TOTAL-FAILED'],
        `${place} ${JSON.stringify(appearance.lines)}`,
      );
    }
  }
  t.log(`false accepts 0 of ${count}`);
});

test('a signature drawn on an empty area, or not drawn, passes without a warning', (t) => {
  for (const place of OVER_NOTHING)
    for (const appearance of DRAWINGS) t.deepEqual(warnings(place, appearance), [], place);
  for (const place of OVER_CONTENT) t.deepEqual(warnings(place, undefined), [], place);
});

test('a signature that is not turned with its page is judged where viewers show it', (t) => {
  const drawn = (flags: number, rectangle: string): string | undefined => {
    const pdf = contract((objects) => {
      const field = (objects.get(EMPTY_FIELD) ?? '').replace('[100 20 180 60]', rectangle);
      objects.set(EMPTY_FIELD, field.replace('/F 4', `/F ${flags}`));
      objects.set(PAGE, (objects.get(PAGE) ?? '').replace('/Parent', '/Rotate 90 /Parent'));
    });
    const format = { fieldName: 'Approval', appearance: { image: whitePixel() } };
    return reportOn(signed(signed(pdf, { certification: 2 }), format, pki().signer('rsa-2048'))).signatures[0]
      ?.indication;
  };
  t.is(drawn(4, '[15 60 115 90]'), 'TOTAL-PASSED');
  t.is(drawn(20, '[15 60 115 90]'), 'TOTAL-FAILED');
  t.is(drawn(20, '[120 60 190 90]'), 'TOTAL-PASSED');
});
