/** Each value of `xadesOptions`, for a portal without a time-stamp authority. */
import anyTest, { type TestFn } from 'ava';
import { until } from '../../actors/portal/service.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertRefused } from '../refused.ts';
import {
  begin,
  byId,
  byPath,
  create,
  creating,
  type Document,
  ENVELOPED,
  FILTER,
  restartXadesFixture,
  signed,
  signOne,
  startXadesFixture,
  ticketOf,
  type XadesFixture,
} from './xades-harness.ts';

const test = withTools(anyTest as TestFn<XadesFixture>, 'xmlsec1');

const tasks: (() => unknown)[] = [];

test.before(async (t) => {
  t.context = await startXadesFixture((task) => void tasks.push(task), false);
});

test.after.always(async () => {
  for (const task of tasks.reverse()) await task();
});

for (const [name, options, start, end] of [
  ['FullXml alone', { signatureType: 'FullXml' }, '</items>', '</o:order>'],
  [
    'FullXml, everything else null',
    {
      signatureType: 'FullXml',
      elementToSignIdentifierType: null,
      elementToSignIdentifier: null,
      insertionOption: null,
    },
    '</items>',
    '</o:order>',
  ],
  [
    'FullXml, AppendChild',
    { signatureType: 'FullXml', insertionOption: 'AppendChild' },
    '</items>',
    '</o:order>',
  ],
  [
    'fullxml, prependchild in any case',
    { signatureType: 'fullxml', insertionOption: 'prependchild' },
    'xmlns="urn:item">',
    '<items>',
  ],
  ['XmlElement by Id alone', byId, 'second</item>', '<item code="7"/>'],
  [
    'XmlElement by Id, AppendSibling',
    { ...byId, insertionOption: 'AppendSibling' },
    'second</item>',
    '<item code="7"/>',
  ],
  [
    'XmlElement by Id, PrependSibling',
    { ...byId, insertionOption: 'PrependSibling' },
    'first</item>',
    '<item code="8"',
  ],
  ['XmlElement by Id, AppendChild', { ...byId, insertionOption: 'AppendChild' }, '>second', '</item>'],
  [
    'XmlElement by Id, PrependChild',
    { ...byId, insertionOption: 'PrependChild' },
    'Id="eight">',
    'second</item>',
  ],
  [
    'XmlElement by XPath, of an element with an Id',
    byPath('//*[@code="8"]'),
    'second</item>',
    '<item code="7"/>',
  ],
  [
    'XmlElement by XPath, AppendSibling',
    { ...byPath('/o:order/*/*[1]'), insertionOption: 'AppendSibling' },
    'first</item>',
    '<item code="8"',
  ],
  [
    'XmlElement by XPath, PrependSibling',
    { ...byPath("/*/*/*[local-name()='item'][1]"), insertionOption: 'PrependSibling' },
    '<items>',
    '<item code="7">',
  ],
  [
    'XmlElement by XPath, AppendChild',
    { ...byPath('//*[@code="7"][2]'), insertionOption: 'AppendChild' },
    '<item code="7">',
    '</item></items>',
  ],
  [
    'XmlElement by XPath, PrependChild',
    { ...byPath('/o:order//*[@code="7"][1]'), insertionOption: 'PrependChild' },
    '<item code="7">',
    'first</item>',
  ],
] as const) {
  test.serial(
    `an XML document is signed with its xadesOptions, by the key of the portal and by an external one: ${name}`,
    async (t) => {
      const text = await signed(t, [
        { by: 'O', options },
        { by: 'C', options },
      ]);
      t.true(text.includes(`${start}<ds:Signature `), text);
      t.true(text.includes('</ds:Signature><ds:Signature '), text);
      t.true(text.includes(`</ds:Signature>${end}`), text);
      const uri = name.includes('Id') ? '#eight' : '';
      t.is(text.split(` URI="${uri}"><ds:Transforms><ds:Transform Algorithm="${FILTER}"`).length, 3);
      const isPlace = name.includes('XPath') && !name.includes('with an Id');
      t.is(text.split('Filter="intersect"').length, isPlace ? 3 : 1);
    },
  );
}

for (const [name, by, options, transform] of [
  ["FullXml, with the portal's key", 'O', { signatureType: 'FullXml' }, ENVELOPED],
  ['FullXml, with a key elsewhere', 'C', { signatureType: 'FullXml' }, ENVELOPED],
  ['XmlElement by Id, AppendChild', 'C', { ...byId, insertionOption: 'AppendChild' }, ENVELOPED],
  ['XmlElement by Id, PrependSibling', 'O', { ...byId, insertionOption: 'PrependSibling' }, undefined],
  ['XmlElement by XPath, of an element with an Id', 'C', byPath('//*[@Id]'), undefined],
] as const) {
  test.serial(`disableXPathTransformation leaves no XPath in the signature: ${name}`, async (t) => {
    const text = await signed(t, [{ by, options: { ...options, disableXPathTransformation: true } }]);
    t.notRegex(text, /XPath|filter2/i);
    t.is(text.includes(ENVELOPED), transform === ENVELOPED);
  });
}

test.serial('FullXmlAdRc without authorities is refused at creation', async (t) => {
  const refused = await creating(t, [{ by: 'O', options: AD_RC }]);
  t.regex((await assertRefused(t, refused, 'InvalidFlowAction')).message, /none is configured/);
});

test.serial(
  'FullXmlAdRc with removed authorities is a retryable failure with a code, for both ways of signing',
  async (t) => {
    const teardown = (task: () => unknown) => void tasks.push(task);
    const before = await startXadesFixture(teardown, true);
    const document = await create(before, [{ by: 'O', options: AD_RC }]);
    const other = await create(before, [{ by: 'C', options: AD_RC }]);
    await before.program.service.stop();
    t.context = await restartXadesFixture(teardown, false, before);
    const { program } = t.context;
    await signOne(t, document, 'O', 0);
    const { processingError, status } = await until(async () => {
      const now = await program.acme.get<Document>(`/api/documents/${document.id}`);
      return now.processingError === null ? undefined : now;
    });
    t.is(processingError?.code, 'authority.missing');
    t.regex(processingError?.message ?? '', /none is configured/);
    t.not(status, 'Concluded');
    const refused = await begin(t.context, other.key, await ticketOf(t.context, other.id, 0));
    t.regex((await assertRefused(t, refused, 'SigningFailed')).message, /none is configured/);
  },
);

const AD_RC = { signatureType: 'FullXmlAdRc' };
