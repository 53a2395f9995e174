import test from 'ava';
import {
  Asn1Error,
  childrenOf,
  contents,
  encoded,
  octets,
  oidText,
  readElement,
  readWhole,
  smallInteger,
  TAG,
} from '#crypto/asn1/read.js';
import { readTime, time } from '#crypto/asn1/time.js';
import { header, octetString, oid, sequence, setOf, tlv, unsigned } from '#crypto/asn1/write.js';

function refused(hex: string): boolean {
  try {
    readWhole(Buffer.from(hex, 'hex'));
    return false;
  } catch (error) {
    if (error instanceof Asn1Error) return true;
    throw error;
  }
}

test('lengths take the fewest octets, also beyond 32 bits', (t) => {
  const forms: readonly (readonly [number, string])[] = [
    [0, '0400'],
    [127, '047f'],
    [128, '048180'],
    [255, '0481ff'],
    [256, '04820100'],
    [65_536, '0483010000'],
    [2 ** 32 - 1, '0484ffffffff'],
    [2 ** 32, '04850100000000'],
    [5 * 2 ** 30, '04850140000000'],
  ];
  for (const [length, hex] of forms) t.is(header(0x04, length).toString('hex'), hex);
});

test('an identifier with padding, an arc beyond any number, or one cut short is refused', (t) => {
  const good = contents(readWhole(oid('1.2.840.113549.1.9.4')));
  for (let at = 0; at <= good.length; at++) {
    const isArcStart = at === 0 || (good[at - 1] ?? 0) < 0x80;
    const padded = tlv(TAG.oid, good.subarray(0, at), Buffer.from([0x80]), good.subarray(at));
    const read = () => oidText(readWhole(padded));
    // Within an arc a zero is a digit, of another identifier.
    if (isArcStart) t.throws(read, { instanceOf: Asn1Error }, `${at}`);
    else t.not(read(), '1.2.840.113549.1.9.4');
  }
  const huge = Buffer.concat([good.subarray(0, 1), Buffer.alloc(10, 0x90), good.subarray(1)]);
  t.throws(() => oidText(readWhole(tlv(TAG.oid, huge))), { instanceOf: Asn1Error });
});

test('identifiers read back as they were written', (t) => {
  for (const id of [
    '1.2.840.113549.1.7.2',
    '2.16.840.1.101.3.4.2.1',
    '0.4.0.1733.2.5',
    '2.999.3',
    '1.3.101.112',
  ]) {
    t.is(oidText(readWhole(oid(id))), id);
  }
});

test('integers are encoded minimally and stay positive', (t) => {
  t.is(unsigned(Buffer.from('00000080', 'hex')).toString('hex'), '02020080');
  t.is(unsigned(Buffer.from('0000007f', 'hex')).toString('hex'), '02017f');
  t.is(unsigned(Buffer.alloc(4)).toString('hex'), '020100');
  t.is(unsigned(Buffer.alloc(0)).toString('hex'), '020100');
});

test('sets are written in the order of their encodings', (t) => {
  const a = octetString(Buffer.from([9]));
  const b = octetString(Buffer.from([1, 1]));
  const c = octetString(Buffer.from([2]));
  t.deepEqual(setOf([a, b, c]), tlv(0x31, c, a, b));
});

test('times change their form in 1950 and 2050 and read back to the second', (t) => {
  for (const [at, tag] of [
    [Date.UTC(1949, 11, 31, 23, 59, 59), 0x18],
    [Date.UTC(1950, 0, 1), 0x17],
    [Date.UTC(2049, 11, 31, 23, 59, 59), 0x17],
    [Date.UTC(2050, 0, 1), 0x18],
  ] as const) {
    const element = readWhole(time(at));
    t.is(element.tag, tag);
    t.is(readTime(element), at);
  }
  t.throws(() => readTime(readWhole(tlv(0x17, Buffer.from('230230120000Z')))), { instanceOf: Asn1Error });
  t.throws(() => readTime(readWhole(tlv(0x17, Buffer.from('2301011200Z')))), { instanceOf: Asn1Error });
});

test('nested indefinite lengths are read', (t) => {
  const inner = '2480' + '0402aabb' + '0401cc' + '0000';
  const outer = readWhole(Buffer.from(`3080${inner}0201050000`, 'hex'));
  const [pieces, number] = childrenOf(outer);
  t.is(octets(pieces ?? outer).toString('hex'), 'aabbcc');
  t.is(smallInteger(number ?? outer), 5);
});

test('lengths that contradict the content are refused', (t) => {
  for (const hex of [
    '',
    '30',
    '3003',
    '300502010',
    '3082',
    '308201',
    '04850100000000aa',
    '0488ffffffffffffffff',
    '0489010000000000000000',
    '04ff',
    '0480aa0000',
    '3080',
    '3080020105',
    '308002010500',
    '02010500',
    '1f8181818181810100',
  ]) {
    t.true(refused(hex), hex);
  }
});

test('deep nesting of indefinite lengths is refused, and deep nesting of definite ones costs no stack', (t) => {
  t.true(refused('3080'.repeat(50_000)));
  let nested: Buffer = Buffer.from([0x05, 0x00]);
  for (let depth = 0; depth < 2000; depth++) nested = sequence(nested);
  t.deepEqual(encoded(readWhole(nested)), nested);
});

test('a value with more elements than the limit is refused', (t) => {
  const many = sequence(Buffer.alloc(2 * 20_000, Buffer.from([0x05, 0x00])));
  t.throws(() => childrenOf(readWhole(many)), { instanceOf: Asn1Error });
});

test('any bytes are read as elements inside the buffer or refused with the error of the reader', (t) => {
  let state = 0x9e3779b9;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  };
  for (let round = 0; round < 20_000; round++) {
    const bytes = Buffer.from(Array.from({ length: 1 + (next() % 40) }, next));
    if (round % 2 === 0) bytes[0] = 0x30;
    try {
      const element = readElement(bytes);
      t.true(element.next <= bytes.length && element.from + contents(element).length === element.to);
      childrenOf(element);
    } catch (error) {
      if (!(error instanceof Asn1Error)) throw error;
    }
  }
  t.pass();
});
