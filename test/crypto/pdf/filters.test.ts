import { deflateSync } from 'node:zlib';
import test from 'ava';
import { unpack } from '#crypto/pdf/syntax/filters.js';
import { PdfSyntaxError } from '#crypto/pdf/syntax/reading-errors.js';
import { readDict } from '#crypto/pdf/syntax/values.js';
import { predict } from './build.ts';

const unpacked = (dict: string, data: Buffer): Buffer =>
  unpack(readDict(Buffer.from(`<< ${dict} >>`), -1, 0), data, (piece) => piece);

const SAMPLE = Buffer.from(Array.from({ length: 6 * 11 }, (_, index) => (index * index * 7 + 13) & 0xff));

test('every predictor is decoded to the original bytes', (t) => {
  for (const predictor of [1, 2, 10, 11, 12, 13, 14, 15]) {
    const data = deflateSync(predict(SAMPLE, 6, predictor));
    const dict = `/Filter /FlateDecode /DecodeParms << /Predictor ${predictor} /Columns 6 >>`;
    t.deepEqual(unpacked(dict, data), SAMPLE, `predictor ${predictor}`);
  }
});

test('deflate data without its last bytes is decoded as far as it goes', (t) => {
  const data = deflateSync(SAMPLE);
  t.deepEqual(unpacked('/Filter /FlateDecode', data.subarray(0, data.length - 4)), SAMPLE);
});

test('the ASCII filters are decoded, also in a chain with another filter', (t) => {
  t.deepEqual(unpacked('/Filter /ASCIIHexDecode', Buffer.from('48 65 6C\n6c6F 7>')), Buffer.from('Hellop'));
  t.deepEqual(
    unpacked('/Filter /ASCII85Decode', Buffer.from('87cUR\nD]j7BEbo80~>')),
    Buffer.from('Hello world!'),
  );
  t.deepEqual(unpacked('/Filter /A85', Buffer.from('z!!~>')), Buffer.from([0, 0, 0, 0, 0]));
  const chain = Buffer.from(`${deflateSync(SAMPLE).toString('hex')}>`);
  t.deepEqual(unpacked('/Filter [/ASCIIHexDecode /FlateDecode]', chain), SAMPLE);
});

/** Packs with codes as the standard asks for them: wider one entry early, cleared when the table is full. */
function lzw(data: Buffer, early: number): Buffer {
  const bits: string[] = [];
  let table = new Map<string, number>();
  let next = 258;
  let width = 9;
  const put = (code: number) => bits.push(code.toString(2).padStart(width, '0'));
  put(256);
  let run = '';
  const codeOf = (text: string) => (text.length === 1 ? text.charCodeAt(0) : (table.get(text) ?? -1));
  for (const letter of data.toString('latin1')) {
    if (run === '' || codeOf(run + letter) >= 0) {
      run += letter;
      continue;
    }
    put(codeOf(run));
    table.set(run + letter, next++);
    if (next + early > 1 << width && width < 12) width++;
    if (next === 4094) {
      put(256);
      table = new Map();
      next = 258;
      width = 9;
    }
    run = letter;
  }
  put(codeOf(run));
  if (next + early >= 1 << width && width < 12) width++;
  put(257);
  const text = bits.join('');
  return Buffer.from((text.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
}

test('LZW is decoded at every code width, with early change and without', (t) => {
  const long = Buffer.from(Array.from({ length: 40_000 }, (_, index) => ((index * index) >> 5) & 0x3f));
  for (const data of [Buffer.from('-----A---B'), SAMPLE, long, Buffer.alloc(5000, 7)]) {
    t.true(unpacked('/Filter /LZWDecode', lzw(data, 1)).equals(data), `early, ${data.length}`);
    const late = '/Filter /LZWDecode /DecodeParms << /EarlyChange 0 >>';
    t.true(unpacked(late, lzw(data, 0)).equals(data), `late, ${data.length}`);
  }
});

test('impossible filter data is reported as damage', (t) => {
  for (const [dict, data] of [
    ['/Filter /FlateDecode', Buffer.from('not deflate')],
    ['/Filter /ASCIIHexDecode', Buffer.from('xy>')],
    ['/Filter /ASCII85Decode', Buffer.from('\u007f~>')],
    ['/Filter /LZWDecode', Buffer.from([0x80, 0x5f, 0xff, 0xff])],
    ['/Filter /DCTDecode', SAMPLE],
    ['/Filter [/Fl /Fl /Fl /Fl /Fl]', SAMPLE],
    ['/Filter /Fl /DecodeParms << /Predictor 12 /Columns 0 >>', deflateSync(SAMPLE)],
    ['/Filter /Fl /DecodeParms << /Predictor 12 /Columns 99999999 >>', deflateSync(SAMPLE)],
    ['/Filter /Fl /DecodeParms << /Predictor 7 /Columns 6 >>', deflateSync(SAMPLE)],
  ] as const) {
    t.throws(() => unpacked(dict, data), { instanceOf: PdfSyntaxError }, dict);
  }
});
