/**
 * Markup that canonicalization drops, put into signed text by somebody else, and counter-signatures that name content.
 * Each forged file still has the signed digest; the honest twin beside it has no warning.
 */
import test from 'ava';
import { inspectAsic } from '#crypto/asic/validate.js';
import { memorySource } from '#crypto/core/files.js';
import { inspectXadesWithContents } from '#crypto/files/validate-file.js';
import { handMade } from '../asic/container-harness.ts';
import {
  complaints,
  DS,
  ENVELOPED,
  EXC,
  type Forgery,
  forge,
  goodProperties,
  reportOn,
  transform,
} from './forging.ts';

const ORDER = '<order><pay>100</pay></order>';
const WITH_COMMENTS = `${EXC}WithComments`;
const swap = (text: string, from: string, to: string): string => {
  if (!text.includes(from)) throw new Error(`nothing to replace: ${from}`);
  return text.replace(from, () => to);
};

/** Markup put into the signed text, and the warning that says so. */
const INSERTED: readonly (readonly [what: string, text: string, warning: string])[] = [
  ['a comment in the middle', '1<!-- -->00', 'scope.comment-in-text'],
  ['a comment before the text', '<!--9-->100', 'scope.comment-in-text'],
  ['a comment after white space', ' <!--9-->100', 'scope.comment-in-text'],
  ['a comment after the text', '100<!-- -->', 'scope.comment-in-text'],
  ['two comments', '1<!-- --><!-- -->00', 'scope.comment-in-text'],
  ['a CDATA section in the middle', '1<![CDATA[0]]>0', 'scope.cdata-in-text'],
  ['a CDATA section at the end', '1<![CDATA[00]]>', 'scope.cdata-in-text'],
  ['two CDATA sections', '<![CDATA[1]]><![CDATA[00]]>', 'scope.cdata-in-text'],
];

/** Forms of XML signatures over one order: the file, and its content where that is outside of it. */
interface Signed {
  readonly file: string;
  readonly content?: string;
}

const inOrder = (text: string): string => swap(ORDER, '100', text);
/** As signed: white space counts, comments and CDATA sections do not. */
const signedText = (text: string): string =>
  inOrder(text.replace(/<!--.*?-->/g, '').replace(/<!\[CDATA\[(.*?)\]\]>/g, '$1'));

const FORMS: { readonly [form: string]: (text: string) => Signed } = {
  enveloped: (text) => {
    const transforms = transform(ENVELOPED) + transform(EXC);
    const data = `<r>${signedText(text)}</r>`;
    return { file: `<r>${inOrder(text)}${forge({ references: [{ uri: '', data, transforms }] })}</r>` };
  },
  'an element by its Id': (text) => {
    const named = (order: string) => swap(order, '<order', '<order Id="p"');
    const signature = forge({ references: [{ uri: '#p', data: named(signedText(text)) }] });
    return { file: `<r>${named(inOrder(text))}${signature}</r>` };
  },
  enveloping: (text) => {
    const object = (order: string) => `<ds:Object xmlns:ds="${DS}" Id="o">${order}</ds:Object>`;
    const references = [{ uri: '#o', data: object(signedText(text)) }];
    return { file: forge({ references, objects: object(inOrder(text)) }) };
  },
  'an element in an object': (text) => {
    const named = (order: string) => swap(order, '<order', '<order Id="p"');
    const references = [{ uri: '#p', data: named(signedText(text)) }];
    return { file: forge({ references, objects: `<ds:Object>${named(inOrder(text))}</ds:Object>` }) };
  },
  detached: (text) => ({
    file: forge({ references: [{ uri: 'order.xml', data: signedText(text) }] }),
    content: inOrder(text),
  }),
};

function warningsOf({ file, content }: Signed): readonly string[] {
  const options = content === undefined ? {} : { content: memorySource('/order.xml', Buffer.from(content)) };
  return complaints(file, options).map((one) => one.replace(/^warning /, ''));
}

for (const [form, make] of Object.entries(FORMS)) {
  test(`dropped markup in signed text is reported: ${form}`, (t) => {
    const honest = warningsOf(make('100')).filter((one) => one !== 'scope.partial');
    t.deepEqual(honest, []);
    t.deepEqual(
      warningsOf(make('<![CDATA[100]]>')).filter((one) => one !== 'scope.partial'),
      [],
      'one section that holds all of the text',
    );
    for (const [what, text, warning] of INSERTED) t.true(warningsOf(make(text)).includes(warning), what);
  });
}

/** Forms whose references leave instructions before the root unsigned; the twin over the document fails instead. */
const PROLOG: { readonly [form: string]: readonly [file: () => string, found: string] } = {
  'the document': [() => FORMS.enveloped?.('100').file ?? '', 'failed digest.content HASH_FAILURE'],
  'the root by its Id': [
    () => {
      const transforms = transform(ENVELOPED) + transform(EXC);
      const references = [{ uri: '#p', data: `<r Id="p">${ORDER}</r>`, transforms }];
      return `<r Id="p">${ORDER}${forge({ references })}</r>`;
    },
    'warning scope.stylesheet',
  ],
  'an element by its Id': [
    () => FORMS['an element by its Id']?.('100').file ?? '',
    'warning scope.partial,warning scope.stylesheet',
  ],
  enveloping: [() => FORMS.enveloping?.('100').file ?? '', 'warning scope.stylesheet'],
};

for (const [form, [make, found]] of Object.entries(PROLOG)) {
  test(`a stylesheet that somebody put before the root is reported: ${form}`, (t) => {
    const file = make();
    const honest = complaints(file).join();
    t.false(/stylesheet|failed/.test(honest), honest);
    t.is(complaints(`<?xml-stylesheet type="text/xsl" href="pay.xsl"?>${file}`).join(), found);
  });
}

test('signed comments, in the document and outside, are not reported', (t) => {
  const inside = `<r><pay>1<!-- -->00</pay></r>`;
  const transforms = transform(ENVELOPED) + transform(WITH_COMMENTS);
  const signature = forge({ references: [{ uri: '#xpointer(/)', data: inside, transforms }] });
  t.deepEqual(warningsOf({ file: swap(inside, '</r>', `${signature}</r>`) }), []);
  const content = inOrder('1<!-- -->00');
  const whole = [transform(WITH_COMMENTS), ''].map((one) =>
    forge({ references: [{ uri: 'order.xml', data: content, transforms: one }] }),
  );
  for (const file of whole) t.deepEqual(warningsOf({ file, content }), []);
});

test('a comment between elements is reported as such, with white space around it too', (t) => {
  const transforms = transform(ENVELOPED) + transform(EXC);
  const references = [{ uri: '', data: '<r>\n\n<pay>100</pay></r>', transforms }];
  const file = `<r>\n<!-- -->\n<pay>100</pay>${forge({ references })}</r>`;
  t.deepEqual(warningsOf({ file }), ['scope.comments']);
});

test('many comments elsewhere do not hide one in signed text from the report', (t) => {
  const many = '<x>y<!-- --></x>'.repeat(1500);
  const data = '<pay Id="p">100</pay>';
  const signature = forge({ references: [{ uri: '#p', data }] });
  const file = `<r>${many}${swap(data, '100', '1<!-- -->00')}${signature}</r>`;
  t.true(warningsOf({ file }).includes('scope.comment-in-text'));
});

test('an enveloped signature moved into the middle of signed text is reported', (t) => {
  const transforms = transform(ENVELOPED) + transform(EXC);
  const signature = forge({ references: [{ uri: '', data: `<r>${ORDER}</r>`, transforms }] });
  const honest = `<r>${ORDER}${signature}</r>`;
  t.deepEqual(warningsOf({ file: honest }), []);
  const forged = `<r>${swap(ORDER, '100', `1${signature}00`)}</r>`;
  t.is(reportOn(forged).indication, 'TOTAL-PASSED');
  t.deepEqual(warningsOf({ file: forged }), ['scope.signature-in-text']);
});

test('dropped markup in a file of a container is reported', (t) => {
  const container = (order: string) =>
    handMade([
      { name: 'mimetype', bytes: Buffer.from('application/vnd.etsi.asic-e+zip') },
      { name: 'order.xml', bytes: Buffer.from(order) },
      {
        name: 'META-INF/signatures.xml',
        bytes: Buffer.from(
          `<a:XAdESSignatures xmlns:a="http://uri.etsi.org/02918/v1.2.1#">${forge({
            references: [{ uri: 'order.xml', data: ORDER }],
          })}</a:XAdESSignatures>`,
        ),
      },
    ]);
  const findingTypes = (order: string) => {
    const { signatures } = inspectAsic(memorySource('/order.asice', container(order)));
    return signatures.flatMap(({ findings }) =>
      findings.filter(({ status }) => status !== 'passed').map(({ type }) => type),
    );
  };
  t.deepEqual(findingTypes(ORDER), []);
  for (const [what, text, warning] of INSERTED) {
    if (text !== signedText(text) && !text.startsWith(' '))
      t.deepEqual(findingTypes(inOrder(text)), [warning], what);
  }
});

const COUNTERSIGNED = 'http://uri.etsi.org/01903#CountersignedSignature';

/** Puts a counter-signature with further references into an enveloped signature. */
function counterSigned(host: string, further: Forgery['references']): string {
  const value = /<ds:SignatureValue Id="sig-value">[^<]*<\/ds:SignatureValue>/.exec(host)?.[0] ?? '';
  const data = swap(value, ' Id=', ` xmlns:ds="${DS}" Id=`);
  const references = [{ uri: '#sig-value', data, type: COUNTERSIGNED }, ...further];
  const inner = forge({ id: 'c', references, properties: goodProperties('c', []) });
  return swap(
    host,
    '</xades:SignedProperties>',
    `</xades:SignedProperties><xades:UnsignedProperties><xades:UnsignedSignatureProperties><xades:CounterSignature>${inner}</xades:CounterSignature></xades:UnsignedSignatureProperties></xades:UnsignedProperties>`,
  );
}

test('content that only a counter-signature refers to does not count as signed', (t) => {
  const file = (name: string) => memorySource(`/${name}`, Buffer.from(ORDER));
  const further = [{ uri: 'other.xml', data: ORDER }];
  const fixed = forge({ references: [{ uri: 'order.xml', data: ORDER }] });
  const signed = counterSigned(fixed, []);
  const forged = counterSigned(fixed, further);
  const findingTypes = (xml: string, ...names: readonly string[]) => {
    const { findings, signatures } = inspectXadesWithContents(
      memorySource('/signature.xml', Buffer.from(xml)),
      names.map(file),
    );
    const all = [
      findings,
      ...signatures.flatMap((one) => [one.findings, ...one.counterSignatures.map((inner) => inner.findings)]),
    ];
    return all
      .flat()
      .filter(({ status }) => status !== 'passed')
      .map(({ type }) => type);
  };
  t.deepEqual(findingTypes(signed, 'order.xml'), []);
  t.deepEqual(findingTypes(signed, 'order.xml', 'other.xml'), ['content.given']);
  t.deepEqual(findingTypes(forged, 'order.xml', 'other.xml'), ['content.given', 'scope.counter-signature']);
  const alone = forge({
    references: [{ uri: '#o', data: `<ds:Object xmlns:ds="${DS}" Id="o">x</ds:Object>` }],
    objects: `<ds:Object xmlns:ds="${DS}" Id="o">x</ds:Object>`,
  });
  t.deepEqual(findingTypes(counterSigned(alone, further), 'other.xml'), [
    'content.given',
    'scope.counter-signature',
  ]);
});
