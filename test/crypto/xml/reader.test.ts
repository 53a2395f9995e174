import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { CryptoError } from '#crypto/core/types.js';
import {
  decodeXml,
  ExclusiveCanonicalizer,
  MAX_ATTRIBUTES,
  MAX_DEPTH,
  MAX_NAME_LENGTH,
  MAX_VALUE_LENGTH,
  readXml,
} from '#crypto/xml/index.js';
import { withTools } from '../../verifiers/index.ts';
import { generateDocument, seeded } from './documents.ts';

const toolTest = withTools(test, 'xmllint');

/** Returns the reader's error, or undefined when it accepts the document. */
function refusal(document: string | Buffer): CryptoError | undefined {
  try {
    const { utf8 } = decodeXml(Buffer.from(document));
    readXml(utf8, new ExclusiveCanonicalizer(utf8, { update: () => {} }));
    return undefined;
  } catch (error) {
    if (error instanceof CryptoError) return error;
    throw error;
  }
}

/** Documents that are not well-formed, with the expected position. */
const MALFORMED: readonly (readonly [document: string, line: number, column: number, problem: RegExp])[] = [
  ['', 1, 1, /no element/],
  ['   \n ', 2, 2, /no element/],
  ['<!-- only -->', 1, 14, /no element/],
  ['text', 1, 1, /outside the root/],
  ['<r/>text', 1, 5, /outside the root/],
  ['<r/>&amp;', 1, 5, /outside the root/],
  ['<r/><r/>', 1, 5, /more than one root/],
  ['<r/><![CDATA[x]]>', 1, 5, /begins nothing/],
  ['<r>\n  <a>\n  </b>\n</r>', 3, 3, /"<\/a>" is expected/],
  ['<r></r', 1, 4, /"<\/r>" is expected/],
  ['<r></rr>', 1, 4, /"<\/r>" is expected/],
  ['<r></r x>', 1, 4, /"<\/r>" is expected/],
  ['<r>', 1, 4, /ends inside the element "r"/],
  ['<r', 1, 3, /ends inside a tag/],
  ['<r a', 1, 5, /"=" is expected/],
  ['<r a=', 1, 6, /in quotes/],
  ['<r a=1/>', 1, 6, /in quotes/],
  ['<r a="1', 1, 8, /ends inside an attribute value/],
  ['<r a="1"b="2"/>', 1, 9, /white space is needed/],
  ['<r a="<"/>', 1, 7, /"<" is not allowed/],
  ['<r a="1" a="2"/>', 1, 13, /"a" occurs twice/],
  ['<r xmlns:a="urn:1" xmlns:b="urn:1" a:x="1" b:x="2"/>', 1, 49, /"b:x" occurs twice/],
  ['<r / >', 1, 5, /followed by ">"/],
  ['< r/>', 1, 2, /element name is expected/],
  ['<1/>', 1, 2, /element name is expected/],
  ['<é\u0301\u00D7/>', 1, 4, /white space is needed/],
  ['<:r/>', 1, 2, /element name is expected/],
  ['<r:/>', 1, 4, /colon/],
  ['<a:b:c xmlns:a="urn:a"/>', 1, 5, /colon/],
  ['<a:r/>', 1, 1, /prefix "a" is not declared/],
  ['<r a:x="1"/>', 1, 9, /prefix "a" is not declared/],
  ['<r><a xmlns:p="urn:p"/><p:b/></r>', 1, 24, /prefix "p" is not declared/],
  ['<r xmlns:a="urn:1" xmlns:a="urn:1"/>', 1, 20, /declared twice/],
  ['<r xmlns="urn:1" xmlns="urn:1"/>', 1, 18, /declared twice/],
  ['<r xmlns:a=""/>', 1, 4, /declared as nothing/],
  ['<r xmlns:xml="urn:a"/>', 1, 4, /belong to each other/],
  ['<r xmlns:a="http://www.w3.org/XML/1998/namespace"/>', 1, 4, /belong to each other/],
  ['<r xmlns:xmlns="urn:a"/>', 1, 4, /cannot be declared/],
  ['<r xmlns="http://www.w3.org/2000/xmlns/"/>', 1, 4, /cannot be declared/],
  ['<r xmlns="relative/name"/>', 1, 4, /relative/],
  ['<r>&undefined;</r>', 1, 4, /not defined/],
  ['<r>&constructor;</r>', 1, 4, /not defined/],
  ['<r a="&undefined;"/>', 1, 7, /not defined/],
  ['<r>& </r>', 1, 4, /does not end/],
  ['<r>&amp</r>', 1, 4, /does not end/],
  ['<r>&#0;</r>', 1, 4, /no allowed character/],
  ['<r>&#xD800;</r>', 1, 4, /no allowed character/],
  ['<r>&#xFFFF;</r>', 1, 4, /no allowed character/],
  ['<r>&#x110000;</r>', 1, 4, /no allowed character/],
  ['<r>&#x;</r>', 1, 4, /no allowed character/],
  ['<r>&#1e3;</r>', 1, 4, /no allowed character/],
  ['<r>&#99999999999999999999;</r>', 1, 4, /no allowed character/],
  ['<r>&;</r>', 1, 4, /not defined/],
  ['<r>]]></r>', 1, 4, /"]]>"/],
  ['<r>\u0001</r>', 1, 4, /control character U\+0001/],
  ['<r a="\u0008"/>', 1, 7, /control character U\+0008/],
  ['<r><!-- \u0000 --></r>', 1, 9, /control character U\+0000/],
  ['<r><![CDATA[\u001F]]></r>', 1, 13, /control character U\+001F/],
  ['<r>é\uFFFE</r>', 1, 5, /U\+FFFE/],
  ['<r>\n<?p \uFFFF?></r>', 2, 5, /U\+FFFE/],
  ['<r><!-- a -- b --></r>', 1, 11, /"--"/],
  ['<r><!-- a ---></r>', 1, 11, /"--"/],
  ['<r><!-- a </r>', 1, 8, /ends inside a comment/],
  ['<r><!- a --></r>', 1, 4, /begins nothing/],
  ['<r><![CDATA[a]]</r>', 1, 13, /ends inside a CDATA/],
  ['<r><![cdata[a]]></r>', 1, 4, /begins nothing/],
  ['<r><?p a</r>', 1, 8, /ends inside a processing instruction/],
  ['<r><?p%a?></r>', 1, 7, /white space is needed/],
  ['<r><??></r>', 1, 6, /target of a processing instruction is expected/],
  ['<r><?xml version="1.0"?></r>', 1, 4, /only at the very beginning/],
  [' <?xml version="1.0"?><r/>', 1, 2, /only at the very beginning/],
  ['<?XML a?><r/>', 1, 1, /only at the very beginning/],
  ['<?xml?><r/>', 1, 1, /only at the very beginning/],
  ['<?xml version="1.1"?><r/>', 1, 1, /only XML version 1.0/],
  ['<?xml version="2.0"?><r/>', 1, 1, /XML declaration/],
  ['<?xml encoding="UTF-8"?><r/>', 1, 1, /XML declaration/],
  ['<?xml encoding="UTF-8" version="1.0"?><r/>', 1, 1, /XML declaration/],
  ['<?xml version="1.0" standalone="maybe"?><r/>', 1, 1, /XML declaration/],
  ['<?xml version="1.0\'?><r/>', 1, 1, /XML declaration/],
  ['<?xml version="1.0"', 1, 1, /XML declaration/],
];

test('a document that is not well-formed is refused with line, column and problem', (t) => {
  for (const [document, line, column, problem] of MALFORMED) {
    const error = refusal(document);
    t.is(error?.code, 'xml.malformed', document);
    t.regex(error?.message ?? '', problem, document);
    t.true(error?.message.includes(`at line ${line}, column ${column}:`), `${document}: ${error?.message}`);
  }
});

test('an unusual but well-formed document is accepted', (t) => {
  for (const document of [
    '<?xml version="1.0" encoding=\'UTF-8\' standalone="no" ?><r/>',
    "<?xml\tversion = '1.0'?>\r\n<r/>\n\n",
    '<_:_ xmlns:_="urn:_" _:_=""/>',
    '<r xmlns:xml="http://www.w3.org/XML/1998/namespace" xml:id="x"/>',
    '<r xmlns="urn:a"><x xmlns=""/></r>',
    '<xmlish/>',
    '<r><?xml-stylesheet?><?a:b c?></r>',
    '<r>]] > ]&gt; ]]<!-- -->></r>',
    '<r><![CDATA[]]]]><![CDATA[>]]></r>',
    '<r a=">" b="\'"/>',
    '<r>&#x10FFFF;&#0000000065;\u0085\u2028\u007F</r>',
    '<\u{10000}\u00B7 \u200C="1"/>',
    '<!----><r/><!---->',
  ]) {
    t.is(refusal(document)?.message, undefined, document);
  }
});

test('a document type declaration of any kind is refused with its own code, before any entity expands', (t) => {
  const bomb = Array.from(
    { length: 20 },
    (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`,
  ).join('');
  for (const document of [
    '<!DOCTYPE r><r/>',
    '<?xml version="1.0"?>\n<!-- c --><!DOCTYPE r SYSTEM "file:///etc/passwd"><r/>',
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>',
    `<!DOCTYPE r [<!ENTITY e0 "boom">${bomb}]><r>&e20;</r>`,
    '<!doctype html><html/>',
    '<r><!DOCTYPE r></r>',
    '<r/><!DOCTYPE r>',
  ]) {
    t.is(refusal(document)?.code, 'xml.dtd', document.slice(0, 60));
  }
});

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');

test('an unsupported or contradictory encoding is refused with its own code', (t) => {
  const cases: readonly (readonly [string | Buffer, RegExp])[] = [
    ['<?xml version="1.0" encoding="ISO-2022-JP"?><r/>', /ISO-2022-JP/],
    ['<?xml version="1.0" encoding="EBCDIC-CP-US"?><r/>', /EBCDIC-CP-US/],
    ['<?xml version="1.0" encoding="UTF-7"?><r/>', /UTF-7/],
    ['<?xml version="1.0" encoding="constructor"?><r/>', /CONSTRUCTOR/],
    ['<?xml version="1.0" encoding="UTF-16"?><r/>', /does not begin with/],
    ['\uFEFF<?xml version="1.0" encoding="ISO-8859-1"?><r/>', /begins with a UTF-8/],
    [utf16('\uFEFF<?xml version="1.0" encoding="UTF-8"?><r/>'), /begins with a UTF-16LE/],
    [utf16('\uFEFF<?xml version="1.0" encoding="UTF-16BE"?><r/>'), /begins with a UTF-16LE/],
    [utf16('<r/>'), /looks like UTF-16/],
    [utf16('<r/>').swap16(), /looks like UTF-16/],
    [Buffer.concat([utf16('\uFEFF<r/>'), Buffer.from([0])]), /odd number/],
    [utf16('\uFEFF<r>\uD800</r>'), /surrogate/],
    [Buffer.from([0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0]), /UTF-32/],
    [Buffer.from('<r>\xe9</r>', 'latin1'), /not valid UTF-8 from byte 3/],
    [Buffer.from([0x3c, 0x72, 0x3e, 0xc0, 0x80, 0x3c, 0x2f, 0x72, 0x3e]), /not valid UTF-8 from byte 3/],
    [Buffer.from('<r>\xed\xa0\x80</r>', 'latin1'), /not valid UTF-8/],
    [
      Buffer.from('<?xml version="1.0" encoding="US-ASCII"?><r>\xe9</r>', 'latin1'),
      /byte 44 \(0xE9\) is none/,
    ],
    ...[
      ['windows-1252', '\x81'],
      ['windows-1253', '\xaa'],
      ['TIS-620', '\xdb'],
      ['ISO-8859-7', '\xff'],
      ['Shift_JIS', '\x93'],
      ['EUC-KR', '\xc7<'],
      ['GB18030', '\xff'],
    ].map(([name = '', bytes = '']): [Buffer, RegExp] => {
      const start = `<?xml version="1.0" encoding="${name}"?><r>`;
      const at = start.length;
      const text = new RegExp(`declares ${name.toUpperCase()}, but byte (${at}|${at + 1}) `);
      return [Buffer.from(`${start}${bytes}</r>`, 'latin1'), text];
    }),
  ];
  for (const [document, problem] of cases) {
    const error = refusal(document);
    t.is(error?.code, 'xml.encoding', String(document));
    t.regex(error?.message ?? '', problem);
  }
});

test('a declared table is read as other programs read it', (t) => {
  const read = (name: string, bytes: string): string | undefined => {
    const start = `<?xml version="1.0" encoding="${name}"?><r>`;
    const { utf8 } = decodeXml(Buffer.from(`${start}${bytes}</r>`, 'latin1'));
    return utf8.toString().slice(start.length, -'</r>'.length);
  };
  t.is(read('windows-1252', '\x80\x92\xe9'), '€’é');
  t.is(read('CP1252', '\x80'), '€');
  for (const latin of ['latin1', 'L1', 'CP819', 'ISO-8859-1'])
    t.is(read(latin, '\x80\xe9'), '\u0080é', latin);
  t.is(read('ISO-8859-9', '\x80\xfe'), '\u0080ş');
  t.is(read('windows-1254', '\x80\xfe'), '€ş');
  t.is(read('TIS-620', '\x85\xa1'), '\u0085ก');
  t.is(read('ISO8859_2', '\xa3'), 'Ł', 'the name of Java');
  t.is(read('ibm866', '\x80'), 'А');
});

test('offsets lead back to the bytes of every encoding, across parts of long documents', (t) => {
  const characters = {
    'windows-1251': '\xf1',
    Shift_JIS: '\x93\xfa',
    GB18030: '\x82\x35\x8f\x33a',
    'EUC-JP': '\xc6\xfc',
  };
  for (const [name, character] of Object.entries(characters)) {
    const line = `<a>${character.repeat(7)}</a>${character}\n`;
    const text = `<?xml version="1.0" encoding="${name}"?><r>${line.repeat(12_000)}${character.repeat(300_000)}<end/></r>`;
    const bytes = Buffer.from(text, 'latin1');
    const { utf8, toOriginal } = decodeXml(bytes);
    for (const share of [0, 0.1, 0.5, 0.7]) {
      const at = utf8.indexOf('</a>', Math.floor(utf8.length * share * 0.4));
      const found = toOriginal(at);
      t.is(bytes.toString('latin1', found, found + 4), '</a>', `${name} ${share}`);
    }
    t.is(toOriginal(utf8.indexOf('<end/>')), bytes.indexOf('<end/>'), name);
    t.is(toOriginal(utf8.length), bytes.length, name);
  }
});

test('nesting is accepted up to the limit and refused beyond it, also a hundred thousand deep', (t) => {
  const nested = (depth: number): string => '<d>'.repeat(depth) + '</d>'.repeat(depth);
  t.is(refusal(nested(MAX_DEPTH)), undefined);
  t.is(refusal(nested(MAX_DEPTH + 1))?.code, 'xml.too-deep');
  t.is(refusal(nested(100_000))?.code, 'xml.too-deep');
  t.is(refusal('<d>'.repeat(100_000))?.code, 'xml.too-deep');
});

test('attributes, names and values are accepted up to their limits and refused beyond them', (t) => {
  const attributes = (count: number): string =>
    `<r ${Array.from({ length: count }, (_, index) => `a${index}="1"`).join(' ')}/>`;
  t.is(refusal(attributes(MAX_ATTRIBUTES)), undefined);
  t.regex(refusal(attributes(MAX_ATTRIBUTES + 1))?.message ?? '', /more than 4096 attributes/);
  t.regex(refusal(attributes(300_000))?.message ?? '', /more than 4096 attributes/);
  t.is(refusal(`<${'n'.repeat(MAX_NAME_LENGTH)}/>`), undefined);
  t.regex(refusal(`<${'n'.repeat(MAX_NAME_LENGTH + 1)}/>`)?.message ?? '', /name is longer/);
  t.is(refusal(`<r a="${'v'.repeat(MAX_VALUE_LENGTH)}"/>`), undefined);
  t.regex(refusal(`<r a="${'v'.repeat(MAX_VALUE_LENGTH + 1)}"/>`)?.message ?? '', /value is longer/);
  t.regex(refusal(`<r a="${'&amp;'.repeat(4_000_000)}"/>`)?.message ?? '', /value is longer/);
});

test('documents that slow readers down are read or refused in proportionate time', (t) => {
  const many = 200_000;
  const numbers = Array.from({ length: many }, (_, index) => index);
  const documents: { readonly [name: string]: string } = {
    'half-open references': `<r>${'&'.repeat(many)}</r>`,
    'character references': `<r>${'&#65;'.repeat(many)}</r>`,
    'closing brackets': `<r>${']'.repeat(many)}</r>`,
    'carriage returns': `<r>${'\r'.repeat(many)}</r>`,
    instructions: `<r>${'<?p a?>'.repeat(many)}</r>`,
    'unclosed instructions': `<r>${'<?p a'.repeat(many)}</r>`,
    comments: `<r>${'<!---->'.repeat(many)}</r>`,
    'unclosed comments': `<r>${'<!-- '.repeat(many)}</r>`,
    'CDATA sections': `<r>${'<![CDATA[<]]>'.repeat(many)}</r>`,
    'different names': `<r>${numbers.map((index) => `<n${index}/>`).join('')}</r>`,
    'different namespaces': `<r>${numbers.map((index) => `<n xmlns="urn:${index}"/>`).join('')}</r>`,
    'different prefixes': `<r>${numbers.map((index) => `<n xmlns:p${index}="urn:x"/>`).join('')}</r>`,
    'line ends before the fault': `<r>${'\n'.repeat(many)}&x;</r>`,
    'a long declaration': `<?xml version="1.0" ${' '.repeat(many)}?><r/>`,
  };
  const accepted = Object.keys(documents).filter((name) => refusal(documents[name] ?? '') === undefined);
  t.deepEqual(accepted, [
    'character references',
    'closing brackets',
    'carriage returns',
    'instructions',
    'comments',
    'CDATA sections',
    'different names',
    'different namespaces',
  ]);
});

test('a document cut at any byte is refused with a code', (t) => {
  for (const seed of [1, 2, 3]) {
    const document = Buffer.from(`<w>${generateDocument(seed).text.replace(/^<\?xml.*?\?>/, '')}</w>`);
    t.is(refusal(document), undefined);
    for (let length = 0; length < document.length; length++) {
      t.truthy(
        refusal(document.subarray(0, length))?.code.startsWith('xml.'),
        `seed ${seed}, ${length} bytes`,
      );
    }
  }
});

test('random bytes are refused with a code', (t) => {
  const random = seeded(42);
  for (let round = 0; round < 2000; round++) {
    const noise = Buffer.from(
      Array.from({ length: Math.floor(random() * 200) }, () => Math.floor(random() * 256)),
    );
    t.truthy(refusal(noise)?.code.startsWith('xml.'), noise.toString('hex'));
    t.truthy(
      refusal(Buffer.concat([Buffer.from('<r a="'), noise]))?.code.startsWith('xml.'),
      noise.toString('hex'),
    );
  }
});

type Opinion = 'accepts' | 'complains' | 'refuses';

/** Returns xmllint's result; it reports namespace errors and continues. */
function opinionOfXmllint(t: ExecutionContext): (document: string) => Opinion {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-xml-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'document.xml');
  return (document) => {
    writeFileSync(path, document);
    const run = spawnSync('xmllint', ['--nonet', '--noout', path], { timeout: 20_000 });
    if (run.status !== 0) return 'refuses';
    return run.stderr.length === 0 ? 'accepts' : 'complains';
  };
}

toolTest('damaged documents are accepted exactly when xmllint accepts them', (t) => {
  const xmllint = opinionOfXmllint(t);
  const random = seeded(99);
  const inserted = [
    '<',
    '>',
    '&',
    '"',
    "'",
    '/',
    '=',
    ' ',
    ':',
    '\r',
    ']]>',
    '--',
    '<!--',
    '?>',
    '<a>',
    '\u0001',
    '\uFFFE',
    'x',
    '\uFEFF',
  ];
  for (let round = 0; round < 300; round++) {
    const { text } = generateDocument(2000 + (round % 60));
    const at = Math.floor(random() * text.length);
    const removed = random() < 0.5 ? 1 : 0;
    const added = random() < 0.6 ? (inserted[Math.floor(random() * inserted.length)] ?? '') : '';
    const damaged = (text.slice(0, at) + added + text.slice(at + removed)).replace(/\p{Surrogate}/gu, '?');
    const error = refusal(damaged);
    const opinion = xmllint(damaged);
    const what = `round ${round}, at ${at}: ${error?.message}\n${damaged.slice(0, 400)}`;
    if (opinion === 'accepts') t.is(error, undefined, what);
    if (opinion === 'refuses') t.truthy(error, what);
  }
});

test('a document in an encoding of several bytes is decoded in parts that divide no character', (t) => {
  const characters = [
    [0xd2, 0xbb],
    [0x81, 0x30, 0x81, 0x30],
  ];
  for (const ascii of ['', 'a', 'aa', 'aaa']) {
    const start = Buffer.from(`<?xml version="1.0" encoding="GB18030"?><r>${ascii}`);
    const text = Buffer.from(Array.from({ length: 200_000 }, (_, at) => characters[at % 2] ?? []).flat());
    const document = Buffer.concat([start, text, Buffer.from('</r>')]);
    const { utf8, toOriginal } = decodeXml(document);
    t.true(utf8.equals(Buffer.from(new TextDecoder('gb18030').decode(document))), ascii);
    t.is(toOriginal(utf8.length - 4), document.length - 4, ascii);
    const invalid = Buffer.concat([start, text, Buffer.from([0xff]), Buffer.from('</r>')]);
    t.throws(() => decodeXml(invalid), { message: new RegExp(`byte ${document.length - 4} \\(0xFF\\)`) });
  }
});
