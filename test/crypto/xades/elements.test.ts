import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import type { XadesFormat } from '#crypto/core/types.js';
import { findElements, positionsOf } from '#crypto/xades/elements/element-finder.js';
import { assertElementPath, positionalPath, readElementPath } from '#crypto/xades/elements/element-path.js';
import { signXades } from '#crypto/xades/sign.js';
import { inspectXadesDocument } from '#crypto/xades/validate.js';
import { Names } from '#crypto/xml/index.js';
import { pki } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/index.ts';
import {
  byXmlsec,
  failed,
  NOW,
  newFile,
  newPath,
  type SignedDocument,
  signDocument,
  verdict,
} from './signing.ts';

const toolTest = withTools(test, 'xmlsec1', 'xmllint');

const ORDER =
  '<o:order xmlns:o="urn:order" xmlns="urn:item"><!-- x --><items>' +
  '<item code="7">first</item><item code="8" Id="eight">second</item><item code=\'7\'><o:note/></item>' +
  '</items><empty xmlns="" ID="none"/></o:order>';

/** Checks that every signature passes here, with the given scope, and in xmlsec1 with two references each. */
async function good(
  t: ExecutionContext,
  { path, bytes }: Pick<SignedDocument, 'path' | 'bytes'>,
  idAttributes: readonly (readonly [string, string])[] = [],
): Promise<string[]> {
  const { signatures } = inspectXadesDocument(bytes);
  for (const { findings } of signatures)
    t.deepEqual(
      findings.filter(({ status }) => status === 'failed'),
      [],
    );
  const ids = [...bytes.toString('latin1').matchAll(/<ds:Signature [^>]*Id="([^"]+)"/g)];
  t.is(ids.length, signatures.length);
  for (const [, nodeId = ''] of ids) {
    const seen = await byXmlsec(path, { nodeId, idAttributes: [...idAttributes, SIGNATURE_ID] });
    t.true(seen.ok, seen.text);
    t.deepEqual([seen.referencesOk, seen.references], [2, 2]);
  }
  return signatures.map(({ scope }) => scope.description);
}

const SIGNATURE_ID = ['Id', 'http://www.w3.org/2000/09/xmldsig#:Signature'] as const;
const ITEM_ID = ['Id', 'urn:item:item'] as const;

const refused = (t: ExecutionContext, document: string, xades: XadesFormat): string => {
  const output = newPath();
  const signer = pki().signer('p-256');
  const error = t.throws(() =>
    signXades({ format: 'Xades', input: newFile(document), output, signer, at: NOW, xades }),
  );
  t.is((error as Error & { code?: string }).code, 'request.invalid', error?.message);
  t.false(existsSync(output));
  return error?.message ?? '';
};

for (const [insertion, before, after] of [
  ['first-child', '<item code="7">', 'first'],
  ['last-child', 'first', '</item>'],
  ['before', '<items>', '<item code="7">'],
  ['after', 'first</item>', '<item code="8"'],
] as const) {
  for (const coSignable of [true, false]) {
    toolTest.serial(
      `a signature at its requested position is valid: ${insertion} of an element, ${coSignable ? 'for several signers' : 'for one'}`,
      async (t) => {
        const document = coSignable ? ORDER : ORDER.replace('<item code="7">', '<item code="7" Id="x">');
        const start = before.replace('<item code="7">', coSignable ? before : '<item code="7" Id="x">');
        const end = after.replace('<item code="7">', coSignable ? after : '<item code="7" Id="x">');
        const elementPath = '/o:order/*/*[1]';
        const signed = signDocument(document, {
          xades: { packaging: 'element', elementPath, insertion, coSignable },
        });
        t.deepEqual(failed(verdict(signed.path, signed.original)), []);
        const text = signed.bytes.toString('latin1');
        t.true(text.includes(`${start}<ds:Signature `), text);
        t.true(text.includes(`</ds:Signature>${end}`), text);
        const [scope] = await good(t, signed, [ITEM_ID]);
        t.regex(scope ?? '', /^the element \/o:order\/items\/item /);
        t.is(/filter2/.test(text), coSignable);
        const tampered = Buffer.from(text.replace('first', 'fiRst'), 'latin1');
        t.false((await byXmlsec(newFile(tampered), { idAttributes: [ITEM_ID] })).ok);
        t.true(failed(verdict(newFile(tampered), signed.original)).includes('document-digest'));
        const elsewhere = Buffer.from(text.replace('second', 'sEcond'), 'latin1');
        t.deepEqual(
          failed(verdict(newFile(elsewhere), Buffer.from(document.replace('second', 'sEcond')))),
          [],
        );
      },
    );
  }
}

toolTest.serial('an empty-element tag is opened for the signature inside it', async (t) => {
  for (const elementPath of ['//empty', '//o:note']) {
    for (const insertion of ['first-child', 'last-child'] as const) {
      const xades = { packaging: 'element', elementPath, insertion, coSignable: true } as const;
      const signed = signDocument(ORDER, { xades });
      t.deepEqual(failed(verdict(signed.path, signed.original)), []);
      t.is((await good(t, signed, [['ID', 'empty']])).length, 1);
    }
  }
});

toolTest.serial(
  'a document is signed whole with the signature in front, and signatures of several signers stay valid',
  async (t) => {
    let bytes: Buffer = Buffer.from(ORDER);
    let last: SignedDocument | undefined;
    const forms: XadesFormat[] = [
      { insertion: 'first-child', coSignable: true },
      { packaging: 'element', elementPath: '//*[@code="7"][2]', insertion: 'before', coSignable: true },
      { packaging: 'element', elementPath: '//*[@code="7"][2]', insertion: 'first-child', coSignable: true },
      {
        packaging: 'element',
        elementPath: '/*/*[1]/*[local-name()="item"][1]',
        insertion: 'before',
        coSignable: true,
      },
      { insertion: 'last-child', coSignable: true },
      {
        packaging: 'element',
        elementPath: '/*/*[local-name()="items"]',
        insertion: 'first-child',
        coSignable: true,
      },
      { packaging: 'element', elementId: 'eight', insertion: 'before', coSignable: true },
      { insertion: 'first-child', coSignable: true },
    ];
    for (const xades of forms) {
      const before = bytes;
      last = signDocument(before, { xades });
      bytes = last.bytes;
      t.deepEqual(failed(verdict(last.path, before)), []);
    }
    if (last === undefined) return t.fail();
    t.is((await good(t, last, [ITEM_ID])).length, forms.length);
    return undefined;
  },
);

test('an element is referred to by its own Id, and by its position when another element has the same Id', (t) => {
  const xades = { packaging: 'element', elementPath: '//*[@code="8"]', coSignable: true } as const;
  t.true(signDocument(ORDER, { xades }).bytes.includes(' URI="#eight"'));
  const twice = ORDER.replace('ID="none"', 'xmlns:w="urn:w" w:Id="eight"');
  const signed = signDocument(twice, { xades });
  t.true(signed.bytes.includes(' URI=""'));
  t.true(signed.bytes.includes("[local-name()='item' and namespace-uri()='urn:item'][2]<"));
  t.deepEqual(failed(verdict(signed.path, signed.original)), []);
  t.regex(refused(t, twice, { ...xades, coSignable: false }), /no Id of its own/);
  t.regex(
    refused(t, ORDER, { packaging: 'element', elementPath: '/*/*[1]/*[1]' }),
    /without an XPath transform/,
  );
});

test('a path to no element, to several elements or with an undeclared prefix is refused with its reason', (t) => {
  const by = (elementPath: string): XadesFormat => ({ packaging: 'element', elementPath, coSignable: true });
  t.regex(refused(t, ORDER, by('/order')), /names no element .*without namespace/);
  t.regex(refused(t, ORDER, by('//*[@code="7"]')), /names several elements/);
  t.regex(refused(t, ORDER, by('//q:item')), /the prefix "q" stands for/);
  t.regex(refused(t, ORDER, { insertion: 'after' }), /beside the root/);
  t.regex(refused(t, ORDER, { ...by('/*'), insertion: 'before' }), /beside the root/);
});

test('unsupported location paths are refused', (t) => {
  const hostile = [
    '',
    '/',
    '//',
    '/a/',
    '/a[',
    '/a[0]',
    '/a[-1]',
    '/a[1.5]',
    '/a[last()]',
    '/a[position()<3]',
    '/a[count(//*)=1]',
    '/a[contains(.,"x")]',
    '/a[text()="x"]',
    '/a[b="x"]',
    '/a[@x="1" or @y="2"]',
    '/a[not(@x)]',
    '/a | /b',
    '(/a)[1]',
    '/a/@x',
    '/a/text()',
    '/a/..',
    '/a/.',
    '/ancestor::a',
    '/descendant-or-self::node()/a',
    '/child::a',
    'id("x")',
    'document("file:///etc/passwd")',
    '$x',
    '/a[@x=concat("1","2")]',
    '/a[@x="1]',
    '///a',
    `/a${'[1]'.repeat(101)}`,
    '/a'.repeat(31),
    `/a[@x="${'x'.repeat(4000)}"]`,
    '//*'.repeat(2000),
  ];
  for (const path of hostile) {
    const error = t.throws(() => assertElementPath(path), undefined, path);
    t.is((error as Error & { code?: string }).code, 'request.invalid', path);
  }
});

toolTest('a path selects the nodes that xmllint selects', (t) => {
  const paths = [
    '/o:order/i:items/i:item[2]',
    '//i:item[3]',
    '//i:item[@code="7"][2]',
    '//*[@code="7"][1]',
    '//*[2][@code="8"]',
    '/*/*[2]',
    '//i:*[@Id]',
    '//*[local-name()="note" and namespace-uri()="urn:order"]',
    'o:order//o:note',
    '/o:order//*//o:note',
    '//*[namespace-uri()=""]',
    '/ * / i:items / i:item [ position() = 1 ] [ @code = "7" ]',
  ];
  const utf8 = Buffer.from(ORDER.replace('<o:order ', '<o:order xmlns:i="urn:item" '));
  const file = newFile(utf8);
  const found = paths.map((path) => {
    const names = new Names();
    const elements = findElements(utf8, names, (onRoot) =>
      readElementPath(path, (prefix) => onRoot(prefix) ?? ''),
    );
    t.is(elements.length, 1, path);
    const [element] = elements;
    if (element === undefined) throw new Error(path);
    const text = utf8.toString('utf8', element.start, element.end);
    return { path, text, place: positionalPath(positionsOf(utf8, names, element)) };
  });
  const ask = (lines: readonly string[]): string[] => {
    const input = [
      'setrootns',
      ...lines.map((path) => `cat ${path.replace(/ *([/[\]=*]) */g, '$1')}`),
      'bye',
      '',
    ].join('\n');
    const { stdout } = spawnSync('xmllint', ['--shell', file], { input, encoding: 'utf8', timeout: 60_000 });
    return stdout
      .split(/^(?:\/ > )* -------$/m)
      .slice(1)
      .map((one) => one.split('\n/ >')[0]?.trim() ?? '');
  };
  // xmllint changes quotes and empty tags, so the result is compared with the same element selected by its path.
  const byPath = ask(found.map(({ path }) => path));
  t.deepEqual(byPath, ask(found.map(({ place }) => place)));
  t.is(byPath.length, paths.length);
  for (const [index, { text }] of found.entries()) {
    t.is(byPath[index]?.replaceAll(/["'\s]/g, ''), text.replaceAll(/["'\s]/g, ''));
  }
});

test('the cost of many steps on a hostile document is linear in its length', (t) => {
  const deep = `${'<d a="1">'.repeat(250)}${'</d>'.repeat(250)}`;
  const utf8 = Buffer.from(`<r>${deep.repeat(40)}</r>`);
  let tests = 0;
  const path = `${'//*[@a="1"]'.repeat(29)}//*[@a="2"]`;
  const found = findElements(utf8, new Names(), () => {
    tests++;
    return readElementPath(path, (prefix) => prefix);
  });
  t.deepEqual([found.length, tests], [0, 1]);
  // Only two matches are kept.
  t.is(findElements(utf8, new Names(), () => readElementPath('//*', String)).length, 2);
});

test('a signature over an element by position fails when the element is moved or duplicated', (t) => {
  const xades = { packaging: 'element', elementPath: '/*/*[1]/*[1]', coSignable: true } as const;
  const text = signDocument(ORDER, { xades }).bytes.toString('latin1');
  const findings = (changed: string): string[] => {
    t.not(changed, text);
    return inspectXadesDocument(Buffer.from(changed, 'latin1')).signatures.flatMap((one) =>
      one.findings
        .filter(({ status }) => status === 'failed')
        .map(({ type, message }) => `${type}: ${message}`),
    );
  };
  t.regex(findings(text.replace('<items>', '<items><item code="0"/>')).join(), /digest\.content/);
  t.regex(
    findings(text.replace("/*[local-name()='items'", "/*[local-name()='nothing'")).join(),
    /no element stands/,
  );
  t.regex(findings(text.replace('][1]</filter:XPath>', ']</filter:XPath>')).join(), /several elements stand/);
  t.regex(
    findings(text.replace('][1]</filter:XPath>', '][last()]</filter:XPath>')).join(),
    /another way than is followed/,
  );
  t.regex(
    findings(text.replace('Filter="intersect"', 'Filter="union"')).join(),
    /something else than leaving out/,
  );
});
