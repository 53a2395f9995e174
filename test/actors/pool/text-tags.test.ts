/** Work of the search for tags in the text of a PDF. Source: docs/fields.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { findTextTags } from '../../../actors/pool/portal/text-tags.ts';
import { classicPdf, documentObjects, stream } from '../../crypto/pdf/build.ts';
import { folderFor } from '../../runtime/folder.ts';

const TAG = '{{initials:bob:1x1}} ';
const MOST = 500;

function find(t: ExecutionContext, operators: string) {
  const objects = documentObjects();
  objects.set(11, stream('', `BT /F1 0.001 Tf ${operators} ET`));
  const path = join(folderFor(t), 'tags.pdf');
  writeFileSync(path, classicPdf(objects));
  return findTextTags({ task: 'portal.text-tags', documentId: 'd', path, most: MOST });
}

/** One text of some letters that begins with tags. */
const oneText = (tags: number, letters: number) => `(${TAG.repeat(tags).padEnd(letters, 'x')}) Tj`;

test('each letter of a text is measured once for all of its tags', async (t) => {
  const few = await find(t, oneText(50, 20_000));
  const more = await find(t, oneText(400, 20_000));
  t.is(few.tags.length, 50);
  t.is(more.tags.length, 400);
  // Once for each of the two proportions of letters that the font may have.
  t.true(few.visits.letters > 0 && few.visits.letters <= 2 * 20_000, String(few.visits.letters));
  t.is(more.visits.letters, few.visits.letters);
});

test('the search in a text of twice the length with twice the tags visits twice as much', async (t) => {
  const once = await find(t, oneText(200, 20_000));
  const twice = await find(t, oneText(400, 40_000));
  t.is(twice.tags.length, 2 * once.tags.length);
  t.true(twice.visits.letters <= 2 * once.visits.letters, JSON.stringify(twice.visits));
  t.true(twice.visits.pieces <= 2 * once.visits.pieces, JSON.stringify(twice.visits));
});

test('the search in twice as many texts with tags visits twice as many', async (t) => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, index) => `1 0 0 1 10 ${index / 10} Tm (${TAG}and more text) Tj`);
  const once = await find(t, lines(200).join(' '));
  const twice = await find(t, lines(400).join(' '));
  t.is(once.tags.length, 200);
  t.is(twice.tags.length, 400);
  t.true(once.visits.pieces >= 200, JSON.stringify(once.visits));
  t.true(
    twice.visits.letters <= 2 * once.visits.letters + 100,
    JSON.stringify([once, twice].map((one) => one.visits)),
  );
  t.true(
    twice.visits.pieces <= 2 * once.visits.pieces + 2,
    JSON.stringify([once, twice].map((one) => one.visits)),
  );
});
