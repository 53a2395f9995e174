import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { XadesFormat } from '#crypto/core/types.js';
import { signXades } from '#crypto/xades/sign.js';
import { pki } from '../../pki/pki.ts';
import { runTool, withTools } from '../../verifiers/index.ts';
import {
  byXmlsec,
  digestValues,
  failed,
  NOW,
  newFile,
  newPath,
  type SignedDocument,
  signDocument,
  verdict,
} from './signing.ts';

const toolTest = withTools(test, 'xmlsec1');

const DS = 'http://www.w3.org/2000/09/xmldsig#';
const OBJECT_ID = ['Id', `${DS}:Object`] as const;
const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le');

/** Checks that xmlsec1 accepts the signature with that many references, and refuses it after `tamper`. */
async function judged(
  t: ExecutionContext,
  signed: SignedDocument,
  idAttributes: readonly (readonly [string, string])[],
  tamper: (bytes: Buffer) => Buffer,
): Promise<void> {
  t.deepEqual(failed(verdict(signed.path, signed.original)), []);
  const good = await byXmlsec(signed.path, { idAttributes });
  t.true(good.ok, good.text);
  t.deepEqual([good.referencesOk, good.references], [2, 2]);
  const changed = tamper(signed.bytes);
  t.false(changed.equals(signed.bytes));
  const bad = newFile(changed);
  t.false((await byXmlsec(bad, { idAttributes })).ok);
  t.not(failed(verdict(bad, signed.original)).length, 0);
}

function replaced(from: string, to: string): (bytes: Buffer) => Buffer {
  return (bytes) => {
    const at = bytes.indexOf(from);
    return at < 0
      ? bytes
      : Buffer.concat([bytes.subarray(0, at), Buffer.from(to), bytes.subarray(at + from.length)]);
  };
}

function idOf(signed: SignedDocument): string {
  return [...signed.bytes.toString('latin1').matchAll(/<ds:Signature [^>]*Id="([^"]+)"/g)].at(-1)?.[1] ?? '';
}

const refused = (
  t: ExecutionContext,
  document: string | Buffer,
  xades: XadesFormat,
  code: string,
): string => {
  const output = newPath();
  const request = {
    format: 'Xades',
    input: newFile(document),
    output,
    signer: pki().signer('p-256'),
    at: NOW,
    xades,
  } as const;
  const error = t.throws(() => signXades(request));
  t.is((error as Error & { code?: string }).code, code, error?.message);
  t.false(existsSync(output));
  return error?.message ?? '';
};

const ELEMENTS: {
  readonly [name: string]: {
    readonly document: string | Buffer;
    readonly id: string;
    readonly attribute: string;
    readonly tamper: readonly [string, string];
  };
} = {
  'attribute Id': {
    document: '<r><a Id="part">text</a><b/></r>',
    id: 'part',
    attribute: 'Id',
    tamper: ['text', 'tent'],
  },
  'attribute ID': {
    document: '<r><a/><a ID="part">text</a></r>',
    id: 'part',
    attribute: 'ID',
    tamper: ['text', 'tent'],
  },
  'attribute id': {
    document: '<r><a id="_1.2-x">text</a></r>',
    id: '_1.2-x',
    attribute: 'id',
    tamper: ['text', 'tent'],
  },
  'xml:id': {
    document: '<r><a xml:id="part">text</a></r>',
    id: 'part',
    attribute: 'id',
    tamper: ['text', 'tent'],
  },
  'namespaces from outside': {
    document:
      '<r xmlns="urn:d" xmlns:p="urn:p" xmlns:q="urn:q"><p:w><a Id="part" p:x="1"><q:y/>text</a></p:w></r>',
    id: 'part',
    attribute: 'Id',
    tamper: ['urn:p', 'urn:z'],
  },
  'an empty-element tag': {
    document: '<r><a Id="part" n="1"/></r>',
    id: 'part',
    attribute: 'Id',
    tamper: ['n="1"', 'n="2"'],
  },
  'comments, CDATA and instructions inside': {
    document: '<r>\r\n<a Id="part"><!-- c --><![CDATA[<&]]><?p d?>text\r\n</a>\r\n</r>',
    id: 'part',
    attribute: 'Id',
    tamper: ['<?p d?>', '<?p e?>'],
  },
  'an Id beyond ASCII, in Latin-1': {
    document: Buffer.from(
      '<?xml version="1.0" encoding="ISO-8859-1"?><r><a Id="größe">text</a></r>',
      'latin1',
    ),
    id: 'größe',
    attribute: 'Id',
    tamper: ['text', 'tent'],
  },
  'the root': {
    document: '<a Id="part"><b/>text</a>',
    id: 'part',
    attribute: 'Id',
    tamper: ['text', 'tent'],
  },
  'an element deep inside with others around': {
    document: '<r Id="r"><s Id="s"><t Id="t"><a Id="part">text</a></t></s></r>',
    id: 'part',
    attribute: 'Id',
    tamper: ['text', 'tent'],
  },
};

for (const [name, { document, id, attribute, tamper }] of Object.entries(ELEMENTS)) {
  toolTest.serial(`one element is signed, selected by ${name}`, async (t) => {
    const signed = signDocument(document, { xades: { packaging: 'element', elementId: id } });
    const root = /^(?:<\?[^>]*>)?<a /.test(signed.original.toString('latin1'));
    await judged(
      t,
      signed,
      [
        [attribute, 'a'],
        [attribute, 'urn:d:a'],
      ],
      replaced(...tamper),
    );
    const text = signed.bytes.toString('latin1');
    const [before = '', rest = ''] = text.split('<ds:Signature xmlns');
    const after = rest.split('</ds:Signature>').at(-1) ?? '';
    t.is(before + after, signed.original.toString('latin1'));
    t.true(root ? after === '</a>' : /(<\/a>|\/>)$/.test(before), before);
  });
}

toolTest('text outside a signed element may change, and the element may not', async (t) => {
  const signed = signDocument('<r><a Id="part">text</a><b>other</b></r>', {
    xades: { packaging: 'element', elementId: 'part' },
  });
  const judge = (bytes: Buffer) => byXmlsec(newFile(bytes), { idAttributes: [['Id', 'a']] });
  t.true((await judge(replaced('other', 'changed')(signed.bytes))).ok);
  t.false((await judge(replaced('text', 'changed')(signed.bytes))).ok);
});

test('an Id without exactly one element, or that no reference can hold, is refused', (t) => {
  const by = (elementId?: string): XadesFormat => ({
    packaging: 'element',
    ...(elementId !== undefined && { elementId }),
  });
  t.regex(refused(t, '<r><a Id="x"/></r>', by('y'), 'request.invalid'), /No element has the Id "y"/);
  t.regex(refused(t, '<r><a Id="x"/><b id="x"/></r>', by('x'), 'request.invalid'), /Several elements/);
  t.regex(refused(t, '<r Id="x"><a><b xml:id="x"/></a></r>', by('x'), 'request.invalid'), /Several elements/);
  for (const id of ['a b', "a'b", 'a"b', 'a#b', '', 'a%20']) refused(t, '<r/>', by(id), 'request.invalid');
  refused(t, '<r/>', by(), 'request.invalid');
  // An attribute in a namespace or with a longer name is not an Id.
  refused(t, '<r xmlns:w="urn:w"><a w:Id="x" orderId="x"/></r>', by('x'), 'request.invalid');
});

toolTest('two elements are signed one after the other, and both signatures hold', async (t) => {
  const first = signDocument('<r><a Id="one">1</a><a Id="two">2</a></r>', {
    xades: { packaging: 'element', elementId: 'one' },
  });
  const second = signDocument(first.bytes, {
    xades: { packaging: 'element', elementId: 'two' },
    signer: pki().signer('rsa-2048'),
  });
  const idAttributes = [
    ['Id', 'a'],
    ['Id', `${DS}:Signature`],
  ] as const;
  for (const nodeId of [idOf(first), idOf(second)]) {
    const { ok, text } = await byXmlsec(second.path, { nodeId, idAttributes });
    t.true(ok, text);
  }
});

toolTest('one element is signed by two people, each signature beside it', async (t) => {
  const xades = { packaging: 'element', elementId: 'one' } as const;
  const first = signDocument('<r><a Id="one">1</a></r>', { xades });
  const second = signDocument(first.bytes, { xades, signer: pki().signer('rsa-2048') });
  t.true(second.bytes.indexOf(idOf(first)) < second.bytes.indexOf(idOf(second)));
  for (const nodeId of [idOf(first), idOf(second)]) {
    const { ok, text } = await byXmlsec(second.path, {
      nodeId,
      idAttributes: [
        ['Id', 'a'],
        ['Id', `${DS}:Signature`],
      ],
    });
    t.true(ok, text);
  }
});

test('an element is refused when its signature would be inside the content of another one', (t) => {
  const xades = { packaging: 'element', elementId: 'inner' } as const;
  const outer = signDocument('<r><a Id="outer"><b Id="inner">1</b></a></r>', {
    xades: { packaging: 'element', elementId: 'outer' },
  });
  t.regex(refused(t, outer.bytes, xades, 'xml.existing-signature'), /inside of the element "outer"/);
  const whole = signDocument('<r><a Id="outer"><b Id="inner">1</b></a></r>');
  t.regex(refused(t, whole.bytes, xades, 'xml.existing-signature'), /over all of it/);
  const properties = idOf(whole);
  t.regex(
    refused(
      t,
      whole.bytes,
      { packaging: 'element', elementId: `${properties}-properties` },
      'xml.existing-signature',
    ),
    /part of a signature|over all of it/,
  );
  const enveloping = signDocument('<b Id="inner">1</b>', { xades: { packaging: 'enveloping' } });
  t.regex(refused(t, enveloping.bytes, xades, 'xml.existing-signature'), /part of a signature/);
});

toolTest('three people sign one whole document in turn, and all three signatures hold', async (t) => {
  const xades = { coSignable: true };
  const kinds = ['p-256', 'rsa-2048', 'p-384'] as const;
  let bytes: Buffer = Buffer.from('<?xml version="1.0"?>\n<r xmlns="urn:u" a="1"><b>text</b>\n</r>\n');
  const ids: string[] = [];
  for (const kind of kinds) {
    const signed = signDocument(bytes, { xades, signer: pki().signer(kind) });
    ids.push(idOf(signed));
    bytes = signed.bytes;
  }
  t.is(new Set(ids).size, 3);
  const path = newFile(bytes);
  const changed = newFile(replaced('text', 'tent')(bytes));
  for (const nodeId of ids) {
    const idAttributes = [['Id', `${DS}:Signature`]] as const;
    const good = await byXmlsec(path, { nodeId, idAttributes });
    t.true(good.ok && good.referencesOk === 2, good.text);
    t.false((await byXmlsec(changed, { nodeId, idAttributes })).ok);
  }
});

toolTest(
  'a document signed for co-signing takes one final signature over the whole, and none after it',
  async (t) => {
    const first = signDocument('<r>text</r>', { xades: { coSignable: true } });
    const last = signDocument(first.bytes);
    for (const nodeId of [idOf(first), idOf(last)]) {
      const { ok, text } = await byXmlsec(last.path, { nodeId, idAttributes: [['Id', `${DS}:Signature`]] });
      t.true(ok, text);
    }
    t.regex(refused(t, last.bytes, { coSignable: true }, 'xml.existing-signature'), /over all of it/);
  },
);

toolTest('a root found by its Id can be signed by several people too', async (t) => {
  const xades = { packaging: 'element', elementId: 'all', coSignable: true } as const;
  const first = signDocument('<r Id="all">text</r>', { xades });
  const second = signDocument(first.bytes, { xades });
  for (const nodeId of [idOf(first), idOf(second)]) {
    const { ok, text } = await byXmlsec(second.path, {
      nodeId,
      idAttributes: [
        ['Id', 'r'],
        ['Id', `${DS}:Signature`],
      ],
    });
    t.true(ok, text);
  }
});

const EMBEDDED: { readonly [name: string]: string | Buffer } = {
  'one element': '<r>text</r>',
  'declaration, white space, comments and instructions around':
    '<?xml version="1.0" encoding="UTF-8"?>\r\n<!-- a --><?p  d\r\ne?>\n<r>text</r>\r\n<?q?><!-- z -->\n',
  'a prefix of signatures for their own namespace': `<r xmlns:ds="${DS}"><ds:KeyName>text</ds:KeyName></r>`,
  'a prefix of signatures for something else': '<ds:r xmlns:ds="urn:other" ds:a="1">text</ds:r>',
  'another prefix for the namespace of signatures': `<d:KeyName xmlns:d="${DS}">text</d:KeyName>`,
  'a default namespace': '<r xmlns="urn:u">text<x xmlns=""/></r>',
  'byte order mark': '\uFEFF<r>text</r>',
  'UTF-16': utf16('<?xml version="1.0" encoding="UTF-16"?>\n<r>漢text</r>'),
  'ISO-8859-1': Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><r a="ü">text</r>', 'latin1'),
  'as deep as fits': `${'<d>'.repeat(254)}text${'</d>'.repeat(254)}`,
};

for (const [name, document] of Object.entries(EMBEDDED)) {
  toolTest.serial(`an XML document is embedded in its signature unchanged: ${name}`, async (t) => {
    const signed = signDocument(document, { xades: { packaging: 'enveloping' } });
    const wide = name === 'UTF-16';
    const tamper = (bytes: Buffer): Buffer => {
      const [from, to] = ['text', 'tent'].map((word) => Buffer.from(word, wide ? 'utf16le' : 'latin1'));
      const at = bytes.indexOf(from ?? '');
      return Buffer.concat([
        bytes.subarray(0, at),
        to ?? Buffer.alloc(0),
        bytes.subarray(at + 4 * (wide ? 2 : 1)),
      ]);
    };
    await judged(t, signed, [OBJECT_ID], tamper);
    const encoding = wide ? 'utf16le' : 'latin1';
    const without = signed.bytes
      .toString(encoding)
      .replace(/<ds:Signature .*?<ds:Object Id="[^"]*" MimeType="application\/xml">/s, '')
      .replace(/<\/ds:Object><\/ds:Signature>/, '');
    t.is(without, signed.original.toString(encoding));
  });
}

const ENCODED: { readonly [name: string]: string | Buffer } = {
  'plain text': 'just text',
  'bytes of all values': Buffer.from(Array.from({ length: 256 }, (_, index) => index)),
  'XML that is not well-formed': '<r><s></r>',
  'XML with a document type definition': '<!DOCTYPE r><r/>',
  'XML too deep to stand inside of something': `${'<d>'.repeat(255)}${'</d>'.repeat(255)}`,
  'two bytes more than a multiple of three, across pieces': Buffer.alloc(3 * (1 << 20) + 2, 'pattern'),
};

for (const [name, content] of Object.entries(ENCODED)) {
  toolTest.serial(`any other file is embedded in its signature as Base64: ${name}`, async (t) => {
    const signed = signDocument(content, { xades: { packaging: 'enveloping' }, extension: 'txt' });
    const base64 = /<ds:Object Encoding="[^"]*base64" Id="[^"]*" MimeType="text\/plain">([^<]*)</.exec(
      signed.bytes.toString('latin1'),
    )?.[1];
    t.true(Buffer.from(base64 ?? '', 'base64').equals(signed.original));
    t.is(signed.file.input.sha256, createHash('sha256').update(signed.original).digest('hex'));
    t.is(signed.file.output.sha256, createHash('sha256').update(signed.bytes).digest('hex'));
    t.is(signed.file.output.length, signed.bytes.length);
    const [digest] = digestValues(signed.bytes);
    t.is(digest, createHash('sha256').update(signed.original).digest('base64'));
    await judged(t, signed, [OBJECT_ID], (bytes) => {
      const copy = Buffer.from(bytes);
      const at = copy.lastIndexOf('</ds:Object>') - 8;
      copy[at] = copy[at] === 0x41 ? 0x42 : 0x41;
      return copy;
    });
  });
}

test('a document with signatures inside is embedded as Base64, so that they stay unchanged', (t) => {
  for (const document of [
    signDocument('<r/>').bytes,
    signDocument('<r Id="a"/>', { xades: { packaging: 'element', elementId: 'a' } }).bytes,
  ]) {
    const { bytes } = signDocument(document, { xades: { packaging: 'enveloping' } });
    const base64 = /<ds:Object Encoding="[^"]*base64" [^>]*>([^<]*)</.exec(bytes.toString('latin1'))?.[1];
    t.true(Buffer.from(base64 ?? '', 'base64').equals(document));
  }
});

toolTest('a detached signature refers to the file by name and covers its bytes', async (t) => {
  for (const [content, extension] of [
    ['any text', 'txt'],
    [Buffer.alloc((1 << 20) + 7, 'x'), 'bin'],
    ['<r>é</r>', 'xml'],
  ] as const) {
    const signed = signDocument(content, { xades: { packaging: 'detached' }, extension });
    t.is(digestValues(signed.bytes)[0], createHash('sha256').update(signed.original).digest('base64'));
    t.true(signed.bytes.toString().includes(`URI="${basename(signed.inputPath)}"><ds:DigestMethod`));
    t.is(signed.file.input.sha256, createHash('sha256').update(signed.original).digest('hex'));
    const run = () =>
      runTool(
        'xmlsec1',
        [
          '--verify',
          '--enabled-key-data',
          'x509',
          '--trusted-pem',
          pki().rootFile,
          '--id-attr:Id',
          'http://uri.etsi.org/01903/v1.3.2#:SignedProperties',
          basename(signed.path),
        ],
        { cwd: dirname(signed.path) },
      );
    const good = await run();
    t.is(good.exit, 0, good.stderr);
    t.regex(good.stdout + good.stderr, /SignedInfo References \(ok\/all\): 2\/2/);
    writeFileSync(signed.inputPath, Buffer.concat([signed.original, Buffer.from(' ')]));
    t.not((await run()).exit, 0);
  }
});

test('the name of a detached file is percent-encoded, or supplied as a URI, and anything else is refused', (t) => {
  const input = newFile('x', 'ü & ö#1.txt');
  const output = newPath();
  signXades({
    format: 'Xades',
    input,
    output,
    signer: pki().signer('p-256'),
    at: NOW,
    xades: { packaging: 'detached' },
  });
  t.true(readFileSync(output, 'utf8').includes(`URI="${encodeURIComponent(basename(input))}"`));
  const given = signDocument('x', { xades: { packaging: 'detached', uri: 'data/a?b=1&c=2' } });
  t.true(given.bytes.toString().includes('URI="data/a?b=1&amp;c=2"'));
  for (const uri of ['a b', '#part', 'ü', 'a"b', '', '%zz', '<a>']) {
    refused(t, 'x', { packaging: 'detached', uri }, 'request.invalid');
  }
});

test('the media type follows the name, or is the supplied one, and an invalid one is refused', (t) => {
  const typeOf = (bytes: Buffer): string | undefined =>
    /<xades:MimeType>([^<]*)</.exec(bytes.toString('latin1'))?.[1];
  t.is(
    typeOf(signDocument('x', { xades: { packaging: 'detached' }, extension: 'PDF' }).bytes),
    'application/pdf',
  );
  t.is(
    typeOf(signDocument('x', { xades: { packaging: 'detached' }, extension: 'odd' }).bytes),
    'application/octet-stream',
  );
  t.is(typeOf(signDocument('<r/>', { xades: { mimeType: 'image/svg+xml' } }).bytes), 'image/svg+xml');
  t.is(
    typeOf(
      signDocument('x', { xades: { packaging: 'enveloping', mimeType: 'text/plain; charset=utf-8' } }).bytes,
    ),
    'text/plain; charset=utf-8',
  );
  refused(t, '<r/>', { mimeType: '<b>' }, 'request.invalid');
  refused(t, 'x', { packaging: 'detached', mimeType: 'text' }, 'request.invalid');
});

test('an empty file is refused in every packaging', (t) => {
  for (const packaging of ['enveloped', 'element', 'enveloping', 'detached'] as const) {
    refused(t, '', { packaging, elementId: 'x' }, 'input.empty');
  }
});

test('the same request gives the same bytes in every packaging', (t) => {
  const input = newFile('<r Id="x">text</r>');
  const bytesOf = (xades: XadesFormat): Buffer => {
    const output = newPath();
    signXades({ format: 'Xades', input, output, signer: pki().signer('rsa-2048'), at: NOW, xades });
    return readFileSync(output);
  };
  for (const packaging of ['enveloped', 'element', 'enveloping', 'detached'] as const) {
    const xades = { packaging, elementId: 'x' };
    t.deepEqual(bytesOf(xades), bytesOf(xades));
  }
});
