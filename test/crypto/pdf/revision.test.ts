import test from 'ava';
import { bufferSource, firstPage, firstUnusedNumber, withPdf, writeRevision } from '#crypto/pdf/index.js';
import { classicPdf, documentObjects } from './build.ts';

/** Readers pass over objects that are numbered higher. */
const HIGHEST = 8_388_607;

test('new objects get numbers that readers accept, in a gap when the highest ones are used', (t) => {
  const pdf = classicPdf(new Map([...documentObjects(), [HIGHEST, '<< /Note true >>']]));
  withPdf(bufferSource(pdf), (read) => {
    const number = firstUnusedNumber(read.xref);
    t.true(number > 11 && number < HIGHEST - 10_000);
    for (let next = number; next < number + 10_000; next++) {
      if (read.xref.entry(next) !== undefined) t.fail(`${next} is taken`);
    }
    const original = { xref: read.xref, size: pdf.length, lastByte: 0x0a, seed: 'a' };
    const { bytes } = writeRevision(original, [{ number, generation: 0, body: '<< /New true >>' }]);
    withPdf(bufferSource(Buffer.concat([pdf, bytes])), (after) => {
      t.not(after.object(number), undefined);
      t.not(after.object(HIGHEST), undefined);
      t.is(firstPage(after).reference.number, firstPage(read).reference.number);
    });
  });
  withPdf(bufferSource(classicPdf(documentObjects())), (read) => t.is(firstUnusedNumber(read.xref), 12));
});

test('a key without a value at the end of a trailer does not take its value from the next trailer', (t) => {
  const whole = classicPdf(documentObjects()).toString('latin1');
  const at = whole.lastIndexOf('>>', whole.lastIndexOf('startxref'));
  const pdf = Buffer.from(`${whole.slice(0, at)} /Lost ${whole.slice(at)}`, 'latin1');
  withPdf(bufferSource(pdf), (read) => {
    const original = { xref: read.xref, size: pdf.length, lastByte: 0x0a, seed: 'a' };
    const number = firstUnusedNumber(read.xref);
    const { bytes } = writeRevision(original, [{ number, generation: 0, body: '<< /New true >>' }]);
    withPdf(bufferSource(Buffer.concat([pdf, bytes])), (after) => {
      t.not(after.object(number), undefined);
      t.is(firstPage(after).reference.number, firstPage(read).reference.number);
    });
  });
});
