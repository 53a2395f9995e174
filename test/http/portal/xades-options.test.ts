/** `xadesOptions` of a flow action, from upload to download, by HTTP against the real program. */
import anyTest, { type TestFn } from 'ava';
import { until } from '../../actors/portal/service.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertRefused } from '../refused.ts';
import {
  action,
  byId,
  byPath,
  create,
  creating,
  type Document,
  ORDER,
  type Signing,
  signed,
  signOne,
  startXadesFixture,
  type XadesFixture,
  XML,
} from './xades-harness.ts';

const test = withTools(anyTest as TestFn<XadesFixture>, 'xmlsec1');

const tasks: (() => unknown)[] = [];

test.before(async (t) => {
  t.context = await startXadesFixture((task) => void tasks.push(task), true);
});

test.after.always(async () => {
  for (const task of tasks.reverse()) await task();
});

test.serial(
  'several participants sign one XML document in different ways, and every signature stays valid',
  async (t) => {
    const text = await signed(t, [
      { by: 'O', options: { signatureType: 'FullXml', insertionOption: 'PrependChild' } },
      { by: 'C', options: { ...byPath('/*/*[1]/*[1]'), insertionOption: 'PrependSibling' } },
      { by: 'C', options: { ...byPath('/*/*[1]/*[1]'), insertionOption: 'AppendChild' } },
      { by: 'O', options: { ...byId, insertionOption: 'PrependChild' } },
      { by: 'C', options: { ...byPath('/*/*[1]'), insertionOption: 'PrependChild' } },
      { by: 'O', options: { ...byId, insertionOption: 'AppendSibling' } },
      { by: 'O', options: { signatureType: 'FullXml', insertionOption: 'AppendChild' } },
      { by: 'C', options: null },
      { by: 'C' },
    ]);
    t.is(text.match(/<ds:Signature /g)?.length, 9);
  },
);

const NAMESPACES = { xmlNamespaces: [{ prefix: 'line', uri: 'urn:item' }, { prefix: null }] };

test.serial('xmlNamespaces of a creation bind the prefixes of its location paths', async (t) => {
  const ways = [
    { by: 'O', options: byPath('/o:order/line:items/line:item[1]') },
    { by: 'C', options: byPath('//line:item[@Id="eight"]') },
  ] as const;
  const text = await signed(t, ways, XML, NAMESPACES);
  t.true(text.includes('URI="#eight"'));
  const unknown = await creating(t, ways.slice(0, 1));
  t.regex((await assertRefused(t, unknown, 'InvalidFlowAction')).message, /the prefix "line" stands for/);
});

test.serial('actions added to a flow use the namespaces of its document', async (t) => {
  const { id } = await create(t.context, [{ by: 'O' }], XML, NAMESPACES);
  const added = (path: string) =>
    t.context.program.acme.send(`/api/documents/${id}/flow`, {
      addedFlowActions: [action({ by: 'O', options: byPath(path) }, 1)],
    });
  t.is((await added('//line:item[@Id="eight"]')).status, 200);
  await assertRefused(t, await added('//other:item[@Id="eight"]'), 'InvalidFlowAction');
});

test.serial('participants sign elements of their own without XPath transforms', async (t) => {
  const own = (path: string) => ({ ...byPath(path), disableXPathTransformation: true });
  const file = { ...XML, content: Buffer.from(ORDER.replace('<item code="7">', '<item code="6" Id="six">')) };
  const text = await signed(
    t,
    [
      { by: 'O', options: own('//*[@code="6"]') },
      { by: 'C', options: { ...own('//*[@code="8"]'), insertionOption: 'PrependSibling' } },
    ],
    file,
  );
  t.notRegex(text, /XPath|filter2/i);
});

for (const [name, signings, message] of [
  ['no identifier', [{ signatureType: 'XmlElement' }], /says which element/],
  ['a blank identifier', [{ ...byId, elementToSignIdentifier: ' ' }], /says which element/],
  ['an Id that no element has', [{ ...byId, elementToSignIdentifier: 'nine' }], /No element has the Id/],
  ['an Id no reference can have', [{ ...byId, elementToSignIdentifier: 'a b' }], /characters/],
  ['a path to nothing', [byPath('/order')], /names no element/],
  ['a path to several elements', [byPath('//*[@code="7"]')], /names several elements/],
  ['a prefix that is not declared', [byPath('//q:item')], /the prefix "q" stands for/],
  [
    'a signature beside the root',
    [{ signatureType: 'FullXml', insertionOption: 'AppendSibling' }],
    /beside its root/,
  ],
  [
    'complete references beside the root',
    [{ signatureType: 'FullXmlAdRc', insertionOption: 'PrependSibling' }],
    /beside its root/,
  ],
  [
    'a signature beside the root by a path',
    [{ ...byPath('/*'), insertionOption: 'PrependSibling' }],
    /beside the root/,
  ],
  [
    'an element without Id and without XPath',
    [{ ...byPath('/*/*/*[1]'), disableXPathTransformation: true }],
    /without an XPath transform/,
  ],
  [
    'a whole document without XPath for two',
    [{ signatureType: 'FullXml', disableXPathTransformation: true }, null],
    /one signer/,
  ],
  ['one element without XPath for two', [{ ...byId, disableXPathTransformation: true }, byId], /one signer/],
  ['a function', [byPath('//*[contains(@code, "7")]')], /not taken here/],
  ['an axis', [byPath('//*/ancestor::*')], /an axis/],
  ['thousands of steps', [byPath('//*'.repeat(1300))], /more than 30 steps/],
  ['a huge predicate', [byPath(`/*[@a="${'x'.repeat(5000)}"]`)], /at most 4000 characters/],
  ['thousands of predicates', [byPath(`/*${'[@a]'.repeat(900)}`)], /more than 32 tests of attributes/],
] as const) {
  test.serial(`a document with unusable xadesOptions is refused at its creation: ${name}`, async (t) => {
    const refused = await creating(
      t,
      signings.map((options) => ({ by: 'O', options })),
    );
    const body = await assertRefused(t, refused, 'InvalidFlowAction');
    t.regex(body.message, message);
  });
}

test.serial('a rule that needs two signatures is refused without the XPath transform', async (t) => {
  const user = (name: string) => ({ name, email: `${name}@example.com` });
  const more = {
    type: 'SignRule',
    user: null,
    ruleName: 'two',
    numberRequiredSignatures: 2,
    signRuleUsers: [user('a'), user('b')],
  };
  const options = { signatureType: 'FullXml', disableXPathTransformation: true };
  await assertRefused(t, await creating(t, [{ by: 'O', options, more }]), 'InvalidFlowAction');
  const one = { ...more, numberRequiredSignatures: 1 };
  t.is((await creating(t, [{ by: 'O', options, more: one }])).status, 200);
});

test.serial(
  'an edited flow and a new version are validated against xadesOptions like a new document',
  async (t) => {
    const { acme } = t.context.program;
    const { id } = await create(t.context, [
      { by: 'O', options: { signatureType: 'FullXml', disableXPathTransformation: true } },
    ]);
    const edited = await acme.send(`/api/documents/${id}/flow`, {
      addedFlowActions: [action({ by: 'O' }, 1)],
    });
    t.regex((await assertRefused(t, edited, 'InvalidFlowAction')).message, /one signer/);
    const other = await create(t.context, [{ by: 'O', options: byId }]);
    const lost = await acme.send(`/api/documents/${other.id}/flow`, {
      addedFlowActions: [action({ by: 'O', options: byPath('//nothing') }, 1)],
    });
    t.regex((await assertRefused(t, lost, 'InvalidFlowAction')).message, /names no element/);
    const upload = await acme.upload({ ...XML, content: Buffer.from('<order/>') });
    const version = await acme.send(`/api/documents/${other.id}/versions`, {
      file: { ...upload, displayName: 'order' },
    });
    t.regex((await assertRefused(t, version, 'InvalidFlowAction')).message, /No element has the Id/);
  },
);

test.serial('a file other than XML is signed regardless of its xadesOptions', async (t) => {
  const file = { name: 'a.txt', content: Buffer.from('words'), type: 'text/plain' };
  const options = { signatureType: 'FullXml', disableXPathTransformation: true };
  const both = [byId, options].map((one): Signing => ({ by: 'O', options: one }));
  t.is((await creating(t, both, file)).status, 200);
});

test.serial(
  'FullXmlAdRc signs with references to complete validation data and the data itself',
  async (t) => {
    const options = { signatureType: 'FullXmlAdRc', insertionOption: 'PrependChild' };
    const text = await signed(t, [
      { by: 'C', options },
      { by: 'O', options },
      { by: 'O', options: byId },
    ]);
    const properties = [...text.matchAll(/<xades(?:141)?:(\w+) xmlns/g)].map(([, name]) => name);
    const count = (property: string) => properties.filter((one) => one === property).length;
    for (const property of ['CompleteCertificateRefsV2', 'CompleteRevocationRefs'])
      t.is(count(property), 2, property);
    // The third signature has the level of the profile, LTA where an authority is configured.
    t.is(count('SignatureTimeStamp'), 3);
    t.true(properties.includes('CertificateValues') && properties.includes('RevocationValues'));
    t.true(text.includes('xmlns="urn:item"><ds:Signature '));
  },
);

test.serial('FullXmlAdRc waits while an authority is unavailable, and signs afterwards', async (t) => {
  const program = t.context.program;
  const { authority } = t.context;
  const document = await create(t.context, [{ by: 'O', options: { signatureType: 'FullXmlAdRc' } }]);
  authority.break('timestamp', 'busy');
  await signOne(t, document, 'O', 0);
  const { code } = await until(async () => {
    const { processingError } = await program.acme.get<Document>(`/api/documents/${document.id}`);
    return processingError ?? undefined;
  });
  t.regex(code, /^authority\./);
  authority.mend('timestamp');
  await until(async () => {
    const { status } = await program.acme.get<Document>(`/api/documents/${document.id}`);
    return status === 'Concluded' ? true : undefined;
  });
});
