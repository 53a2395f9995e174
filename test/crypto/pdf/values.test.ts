import test from 'ava';
import { equalEntries } from '#crypto/pdf/syntax/equal-values.js';
import { PdfSyntaxError, UnexpectedEndOfFile } from '#crypto/pdf/syntax/reading-errors.js';
import { asString, asText, sourceText } from '#crypto/pdf/syntax/strings.js';
import {
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  endOfValue,
  items,
  NULL,
  readDict,
} from '#crypto/pdf/syntax/values.js';
import { appendItem, spliceDict } from '#crypto/pdf/update/incremental-update.js';

function piece(text: string): ByteSlice {
  const bytes = Buffer.from(`${text} `, 'latin1');
  return { bytes, at: 0, start: 0, end: endOfValue(bytes, 0) };
}

const dict = (text: string) => readDict(Buffer.from(text, 'latin1'), 0, 0);

test('a value ends as the standard defines, with any content', (t) => {
  for (const text of [
    '12',
    '-0.5',
    'true',
    'null',
    '/Name#20x',
    '/',
    '(a (nested) \\) string)',
    '<4 1>',
    '[1 2 0 R (]) <5D> % ] comment\n]',
    '<</A<</B[<</C/D>>]>>/E(>>)>>',
    '12 0 R',
  ]) {
    t.is(sourceText(piece(text)), text);
  }
  t.is(sourceText(piece('12 0 Rx')), '12');
  t.is(sourceText(piece('12 0 obj')), '12');
});

test('a truncated value asks for more bytes, and an impossible one is damage', (t) => {
  for (const text of ['(abc', '<41', '[1 2', '<</A', '<</A 1', '<</A 1>', '<', '[(]']) {
    t.throws(() => endOfValue(Buffer.from(text), 0), { instanceOf: UnexpectedEndOfFile }, text);
  }
  for (const text of ['[>>]', '<<]>>', ')', '}', '[<</A 1>]']) {
    const error = t.throws(() => endOfValue(Buffer.from(text), 0), { instanceOf: PdfSyntaxError }, text);
    t.false(error instanceof UnexpectedEndOfFile, text);
  }
});

test('a dictionary returns its values as written, and the last one of a duplicate key', (t) => {
  const found = dict('<< /A 1/B(x)/C[ 1 ]/D 7 0 R/E/F/A 2 /Empty >>');
  t.is(asInteger(found.get('A')), 2);
  t.is(found.count('A'), 2);
  t.deepEqual(asReference(found.get('D')), { number: 7, generation: 0 });
  t.is(asName(found.get('E')), 'F');
  t.is(found.get('Missing'), undefined);
  t.is(found.get('Empty')?.start, found.get('Empty')?.end);
  t.is(asName(dict('<</A#42C 1/X/Y#2fZ>>').get('X')), 'Y/Z');
  t.is(asInteger(dict('<</A#42C 1/X/Y#2fZ>>').get('ABC')), 1);
  t.throws(() => dict('<< A 1 >>'), { instanceOf: PdfSyntaxError });
});

test('only safe integers count as integers', (t) => {
  for (const [text, value] of [
    ['12', 12],
    ['+12', 12],
    ['-3', -3],
    ['7.', 7],
    ['7.00', 7],
    ['7.5', undefined],
    ['9007199254740993', undefined],
    ['99999999999999999999999999', undefined],
    ['(1)', undefined],
    ['--1', undefined],
    ['1e3', undefined],
  ] as const) {
    t.is(asInteger(piece(text)), value, text);
  }
});

test('strings are read with escapes, octal codes, continued lines and hexadecimal digits', (t) => {
  const read = (text: string) => asString(piece(text))?.toString('latin1');
  t.is(read('(a\\(b\\)\\n\\\\)'), 'a(b)\n\\');
  t.is(read('(\\101\\7x\\0053)'), 'A\x07x\x053');
  t.is(read('(a\\\r\nb\\\nc\r\nd\re)'), 'abc\nd\ne');
  t.is(read('(un\\known)'), 'unknown');
  t.is(read('<4 1 4>'), 'A@');
  t.is(read('/Name'), undefined);
  t.is(asText(piece('<FEFF00410042>')), 'AB');
  t.is(asText(piece('(\\357\\273\\277\\303\\244)')), 'ä');
});

test('items of an array are read one by one, references whole', (t) => {
  t.deepEqual([...items(piece('[1 2 0 R[3]/N(x)%c\n4]'))].map(sourceText), [
    '1',
    '2 0 R',
    '[3]',
    '/N',
    '(x)',
    '4',
  ]);
  t.deepEqual([...items(piece('12'))], []);
  t.deepEqual([...items(NULL)], []);
});

test('a changed key leaves every other byte unchanged', (t) => {
  const odd = '<</A  1%c\n/B (\xe4\\))/C<41>\t/D[ 1 2 ] >>';
  t.is(spliceDict(dict(odd), new Map([['B', '7']])), '<</A  1%c\n/B  7/C<41>\t/D[ 1 2 ] >>');
  t.is(spliceDict(dict(odd), new Map([['New', '7']])), '<</New 7/A  1%c\n/B (\xe4\\))/C<41>\t/D[ 1 2 ] >>');
  t.is(spliceDict(dict('<</A 1/B 2/A 3>>'), new Map([['A', '9']])), '<</A  9/B 2/A  9>>');
  t.is(spliceDict(dict('<</A>>'), new Map([['A', '9']])), '<</A 9>>');
  t.is(spliceDict(dict('<</A 1/Lost>>'), new Map([['B', '9']])), '<</B 9/A 1/Lost>>');
});

test('an item is added to an array of any form, and creates a missing one', (t) => {
  t.is(appendItem(piece('[1 0 R]'), '2 0 R'), '[1 0 R 2 0 R]');
  t.is(appendItem(piece('[]'), '2 0 R'), '[ 2 0 R]');
  t.is(appendItem(piece('[1 0 R % c\n]'), '2 0 R'), '[1 0 R % c\n 2 0 R]');
  t.is(appendItem(piece('null'), '2 0 R'), '[2 0 R]');
  t.is(appendItem(NULL, '2 0 R'), '[2 0 R]');
});

test('places and colours are equal in other digits, and flags are not', (t) => {
  const same = (key: string, one: string, other: string): boolean =>
    equalEntries(key, piece(one), piece(other));
  t.true(same('Rect', '[0.0 12.3683 100 20.000]', '[0 12.37 100.0 20]'));
  t.false(same('Rect', '[0 12.36 100 20]', '[0 12.38 100 20]'));
  t.false(same('Rect', '[0 1 2 3]', '[0 1 2 3 4]'));
  t.true(
    same('MK', '<</BC[0.0 1.0 0.0]/BG[.666656 .75 1]>>', '<</BG [0.6666666666666666 0.749 1]/BC [0 1 0]>>'),
  );
  t.true(same('MK', '<</BG[1]>>', '<</BG [1 1 1]>>'));
  t.false(same('MK', '<</BG[1]>>', '<</BG [1 1 0]>>'));
  t.false(same('MK', '<</BG[1]>>', '<</BG[1]/R 90>>'));
  t.false(same('F', '2', '2.0'));
  t.false(same('ByteRange', '[0 1 2 3]', '[0 1.0 2 3]'));
  t.false(same('BG', '[1e0]', '[1]'));
  t.false(same('BG', '[2 0 R]', '[1]'));
});
