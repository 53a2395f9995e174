import test from 'ava';
import { MultipartError, MultipartReader, multipartBoundary } from '../../../http/core/body/multipart.ts';

interface Part {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly bytes: string;
}

/** Parts parsed from `pieces`, or the code of the fault. */
function read(boundary: string, pieces: Iterable<Buffer>, limits = {}): Part[] | string {
  const reader = new MultipartReader(boundary, limits);
  const parts: { name: string; fileName: string | undefined; bytes: string; ended: boolean }[] = [];
  try {
    for (const piece of pieces) {
      for (const event of reader.feed(piece)) {
        const current = parts.at(-1);
        if (event.type === 'part') {
          parts.push({ name: event.name, fileName: event.fileName, bytes: '', ended: false });
        } else if (current === undefined || current.ended) {
          return 'data outside a part';
        } else if (event.type === 'data') {
          if (event.bytes.length === 0) return 'empty data';
          current.bytes += event.bytes.toString('latin1');
        } else {
          current.ended = true;
        }
      }
    }
    reader.finish();
  } catch (error) {
    if (error instanceof MultipartError) return error.code;
    throw error;
  }
  return parts.map(({ name, fileName, bytes }) => ({ name, fileName, bytes }));
}

const one = (head: string, body = 'x'): string => `--b\r\n${head}\r\n\r\n${body}\r\n--b--\r\n`;
const whole = (text: string | Buffer) => [Buffer.isBuffer(text) ? text : Buffer.from(text)];
const fileNameOf = (disposition: string): string | undefined => {
  const parts = read('b', whole(one(`Content-Disposition: ${disposition}`)));
  return typeof parts === 'string' ? parts : parts[0]?.fileName;
};

/** Content that resembles a delimiter in most positions. */
const TRAPS = [
  '',
  '\r',
  '\r\n',
  '\r\n-',
  '\r\n--',
  '\r\n--b',
  '\r\n--bounda',
  '\n--boundary',
  '--boundary--',
  '\r\r\n--boundarx',
  '\r\n\r\n--boundar\r\n--boundar\r',
  'a\r\n--boundar',
];

test('a form split in two at any byte gives the same parts', (t) => {
  for (const [index, trap] of TRAPS.entries()) {
    const body = Buffer.from(
      `preamble\r\n--boundary\r\nContent-Disposition: form-data; name="format"\r\n\r\nPades\r\n` +
        `--boundary \t\r\nContent-Disposition: form-data; name="file"; filename="ä.pdf"\r\n` +
        `Content-Type: application/pdf\r\n\r\n${trap}\r\n--boundary--\r\nepilogue --boundary\r\n`,
    );
    // Samples that contain the delimiter itself end the part, as the standard says.
    const expected = [
      { name: 'format', fileName: undefined, bytes: 'Pades' },
      { name: 'file', fileName: 'ä.pdf', bytes: trap },
    ];
    for (let cut = 0; cut <= body.length; cut += 1) {
      const parts = read('boundary', [body.subarray(0, cut), body.subarray(cut)]);
      t.deepEqual(parts, expected, `trap ${index}, cut at ${cut}`);
    }
  }
});

test('a form whose chunks come in one memory, one after the other, gives the same parts', (t) => {
  const part = (name: string, bytes: string) =>
    `--boundary\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n${bytes}\r\n`;
  const body = Buffer.from(`${part('a', 'first')}${part('b', 'second')}--boundary--`);
  const block = Buffer.alloc(body.length);
  const inBlock = function* (cut: number) {
    for (const piece of [body.subarray(0, cut), body.subarray(cut)]) {
      block.fill(0x2a);
      block.set(piece);
      yield block.subarray(0, piece.length);
    }
  };
  for (let cut = 0; cut <= body.length; cut += 1) {
    t.deepEqual(
      read('boundary', inBlock(cut)),
      [
        { name: 'file', fileName: 'a', bytes: 'first' },
        { name: 'file', fileName: 'b', bytes: 'second' },
      ],
      `cut at ${cut}`,
    );
  }
});

test('a form in single bytes, or in random chunks, gives the same parts', (t) => {
  const content = TRAPS.join('|').repeat(5);
  const body = Buffer.from(
    `--boundary\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n${content}\r\n` +
      '--boundary\r\n\r\n\r\n--boundary--',
  );
  const expected = [
    { name: 'file', fileName: 'f', bytes: content },
    { name: '', fileName: undefined, bytes: '' },
  ];
  t.deepEqual(
    read(
      'boundary',
      [...body].map((byte) => Buffer.of(byte)),
    ),
    expected,
  );
  let seed = 7;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
  for (let round = 0; round < 500; round += 1) {
    const pieces: Buffer[] = [];
    for (let at = 0; at < body.length; ) {
      const length = random(40);
      pieces.push(body.subarray(at, at + length));
      at += length;
    }
    t.deepEqual(read('boundary', pieces), expected, `round ${round}`);
  }
});

test('any mutation of a form is read or refused with a code', (t) => {
  const body = Buffer.from(one('Content-Disposition: form-data; name="file"; filename="f"', 'content'));
  let refused = 0;
  for (let at = 0; at < body.length; at += 1) {
    for (const byte of [0, 10, 13, 34, 45, 92, 255]) {
      const mutant = Buffer.from(body);
      mutant[at] = byte;
      const result = read('b', [mutant.subarray(0, at), mutant.subarray(at)]);
      if (typeof result === 'string') {
        t.regex(result, /^multipart\./);
        refused += 1;
      }
    }
  }
  t.true(refused > 50);
});

test('large content is streamed unchanged and without buffering', (t) => {
  const chunk = Buffer.alloc(64 * 1024, 'x\r\n-');
  const reader = new MultipartReader('b');
  let bytes = 0;
  const take = (piece: Buffer) => {
    for (const event of reader.feed(piece)) if (event.type === 'data') bytes += event.bytes.length;
  };
  take(Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'));
  for (let round = 0; round < 100; round += 1) take(chunk);
  take(Buffer.from('\r\n--b--'));
  reader.finish();
  t.is(bytes, 100 * chunk.length);
});

test('file names are decoded by RFC 2183, RFC 6266 and as browsers encode them', (t) => {
  t.is(fileNameOf('form-data; name="file"; filename="a b.pdf"'), 'a b.pdf');
  t.is(fileNameOf('form-data; name=file; filename=plain.pdf'), 'plain.pdf');
  t.is(fileNameOf('form-data; filename="say \\"hi\\".pdf"; name="file"'), 'say "hi".pdf');
  t.is(fileNameOf('form-data; name="file"; filename="back\\\\slash"'), 'back\\slash');
  t.is(fileNameOf('form-data; name="file"; filename="C:\\docs\\a.pdf"'), 'C:\\docs\\a.pdf');
  t.is(fileNameOf('form-data; name="file"; filename="a;b=c.pdf"'), 'a;b=c.pdf');
  t.is(fileNameOf('form-data; name="file"; filename="çãé 日本.pdf"'), 'çãé 日本.pdf');
  t.is(
    fileNameOf('form-data; name="file"; FILENAME="x"; filename*=UTF-8\'\'na%C3%AFve%20%25.pdf'),
    'naïve %.pdf',
  );
  t.is(fileNameOf("form-data; name=file; filename*=iso-8859-1'en'%E4.pdf"), 'ä.pdf');
  t.is(fileNameOf('form-data; name="file"; filename=""'), '');
  t.is(fileNameOf('form-data; name="filename"'), undefined);
  const named = (words: string) => fileNameOf(`form-data; name="file"; filename="${words}"`);
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  t.is(named(`=?utf-8?B?${base64('contração.pdf')}?=`), 'contração.pdf');
  t.is(named('=?UTF-8?q?contra=C3=a7=C3=A3o_1.pdf?='), 'contração 1.pdf');
  t.is(named('=?iso-8859-1?Q?contra=E7=E3o=96.pdf?='), 'contração–.pdf');
  t.is(named('=?utf-8*pt?Q?=C3=A3.pdf?='), 'ã.pdf');
  t.is(named('=?utf-8?B?Y29udHJhw6c=?=  =?UTF-8?b?w6NvLnBkZg==?='), 'contração.pdf');
  t.is(named('=?utf-8?Q?=C3?= =?utf-8?Q?=A3.pdf?='), 'ã.pdf', 'a character is divided');
  t.is(named('=?utf-8?Q?a?= =?iso-8859-2?Q?=B1.pdf?='), 'aą.pdf');
  for (const broken of [
    '=?utf-8?Q?=E7.pdf?=',
    '=?no-charset?Q?a.pdf?=',
    '=?utf-8?X?a.pdf?=',
    '=?utf-8?Q?a.pdf',
  ])
    t.is(named(broken), broken);
  t.is(
    fileNameOf('form-data; name="file"; filename="=?utf-8?Q?a.pdf?="; filename*=UTF-8\'\'b.pdf'),
    'b.pdf',
    'the newer form wins',
  );
  t.is(fileNameOf('form-data;\r\n name="file";\r\n\tfilename="folded.pdf"'), 'folded.pdf');
});

test('a file name in sections is joined, also where a character is divided', (t) => {
  const named = (parameters: string) => fileNameOf(`form-data; name="file"; ${parameters}`);
  t.is(named('filename*0="annual report "; filename*1="2026.pdf"'), 'annual report 2026.pdf');
  t.is(
    named('filename*0*=UTF-8\'\'contra%C3; filename*1*=%A7%C3%A3o; filename*2=" 50% é.pdf"'),
    'contração 50% é.pdf',
  );
  const many = Array.from({ length: 12 }, (_, index) => `filename*${index}=${index % 10}`).toReversed();
  t.is(named(many.join('; ')), '012345678901');
  t.is(named('filename*1="b.pdf"'), undefined, 'the first section is missing');
  t.is(named("filename*0*=koi8-r''%C1; filename*1=.pdf"), undefined);
  t.is(named('filename*0="a"; filename="b.pdf"'), 'b.pdf');
});

test('quotes and line ends that forms escape in names are unescaped, and other characters are kept', (t) => {
  t.is(fileNameOf('form-data; name="file"; filename="the %22big%22 one.pdf"'), 'the "big" one.pdf');
  t.is(fileNameOf('form-data; name="file"; filename="two%0D%0alines.pdf"'), 'two\r\nlines.pdf');
  t.is(fileNameOf('form-data; name="file"; filename="100%25 %20 %2F.pdf"'), '100%25 %20 %2F.pdf');
  t.like(read('b', whole(one('Content-Disposition: form-data; name="a%22b"'))), [{ name: 'a"b' }]);
});

test('an invalid extended file name is ignored for the plain one', (t) => {
  t.is(fileNameOf('form-data; name="file"; filename="x"; filename*=UTF-8\'\'%ff%fe'), 'x');
  t.is(fileNameOf('form-data; name="file"; filename="x"; filename*=UTF-8\'\'%zz'), 'x');
  t.is(fileNameOf('form-data; name="file"; filename="x"; filename*=koi8-r\'\'%C1'), 'x');
});

test('a file name that is not UTF-8 is taken as Latin-1', (t) => {
  const body = Buffer.from(one('Content-Disposition: form-data; name="file"; filename="\xe4.pdf"'), 'latin1');
  t.like(read('b', [body]), [{ fileName: 'ä.pdf' }]);
});

test('malformed forms are refused with a code for each fault', (t) => {
  t.is(read('b', whole('')), 'multipart.truncated');
  t.is(read('b', whole('no delimiter at all')), 'multipart.truncated');
  t.is(read('b', whole('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx')), 'multipart.truncated');
  t.is(
    read('b', whole('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b')),
    'multipart.truncated',
  );
  t.is(read('b', whole('--b\nContent-Disposition: form-data\n\nx\n--b--')), 'multipart.truncated');
  t.is(
    read('b', whole('--bx\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--')),
    'multipart.head-malformed',
  );
  t.is(read('b', whole('--b-x\r\n\r\n')), 'multipart.head-malformed');
  t.is(read('b', whole(one('no colon'))), 'multipart.head-malformed');
  t.is(read('b', whole(one('Content-Transfer-Encoding: base64'))), 'multipart.encoding-unsupported');
  t.is(read('b', whole(one(`X: ${'y'.repeat(9000)}`))), 'multipart.head-too-large');
  t.is(read('b', [Buffer.from('--b\r\n'), Buffer.alloc(100_000, 'y')]), 'multipart.head-too-large');
  t.is(read('b', whole(`${'--b\r\n\r\n\r\n'.repeat(65)}--b--`)), 'multipart.too-many-parts');
  t.is(read('b', whole('--b\r\n\r\n\r\n--b--'), { parts: 0 }), 'multipart.too-many-parts');
});

test('the boundary is read from the content type, quoted or not', (t) => {
  t.is(multipartBoundary('multipart/form-data; boundary=abc'), 'abc');
  t.is(multipartBoundary('Multipart/Form-Data; charset=utf-8; Boundary="a b:c"'), 'a b:c');
  t.is(multipartBoundary('application/pdf'), undefined);
  t.is(multipartBoundary(''), undefined);
  t.is(multipartBoundary('multipart/mixed; boundary=abc'), undefined);
  for (const bad of [
    '',
    '; boundary=',
    '; boundary="a\r\nb"',
    `; boundary=${'x'.repeat(71)}`,
    '; boundary="ends "',
  ]) {
    t.throws(
      () => multipartBoundary(`multipart/form-data${bad}`),
      { code: 'multipart.boundary-missing' },
      bad,
    );
  }
});
