import test from 'ava';
import { MemoryOutput } from '#crypto/core/types.js';
import { signFile } from '#crypto/files/sign-file.js';
import { readTrustedList } from '#crypto/qualification/trusted-list.js';
import { authenticate } from '#crypto/trust-lists/authenticity.js';
import {
  type ListAnchor,
  nationalPointers,
  readListOfLists,
  readNationalList,
} from '#crypto/trust-lists/list-of-lists.js';
import type { TestSigner } from '../../pki/pki.ts';
import {
  AT,
  authorityOf,
  fingerprints,
  JOURNAL,
  LOCATION,
  listSigner,
  listText,
  lotlText,
  providerText,
  signList,
} from './own-lists.ts';

const DAY = 86_400_000;
const [first, second, third, stranger] = ['one', 'two', 'three', 'stranger'].map((name) =>
  listSigner(name),
) as [TestSigner, TestSigner, TestSigner, TestSigner];
const PIVOT_2 = 'https://lists.test/eu-lotl-pivot-2.xml';
const PIVOT_1 = 'https://lists.test/eu-lotl-pivot-1.xml';
const PATH = [PIVOT_2, PIVOT_1, JOURNAL];

/** The journal names `first`; pivot 1 hands over to `second`, pivot 2 to `third`. */
const pivots: ReadonlyMap<string, Buffer> = new Map([
  [PIVOT_1, signList(lotlText([first, second], { uris: PATH.slice(1), sequence: 9 }), first)],
  [PIVOT_2, signList(lotlText([second, third], { uris: PATH, sequence: 8 }), second)],
]);
const list = signList(listText({ providers: providerText(authorityOf('BE').certificate) }), first);
const lotl = signList(
  lotlText([third], { uris: PATH, pointers: [{ territory: 'BE', signers: [first] }] }),
  third,
);

function walk(
  document: Buffer,
  {
    anchor = {},
    found = pivots,
    at = AT,
  }: { anchor?: Partial<ListAnchor>; found?: ReadonlyMap<string, Buffer>; at?: number } = {},
) {
  return readListOfLists({
    anchor: { location: LOCATION, journal: JOURNAL, signers: fingerprints(first), ...anchor },
    document,
    pivot: (address) => found.get(address),
    at,
  });
}

test('pivots lead from the certificates of the journal to the list of lists and to a national list', (t) => {
  const read = walk(lotl);
  const [pointer] = nationalPointers(read);
  t.like(pointer, { territory: 'BE' });
  t.is(readNationalList(list, pointer as never, AT).providers.length, 1);
  const direct = signList(lotlText([first]), first);
  t.is(walk(direct).sequence, 7);
});

const swapped = new Map([
  [PIVOT_1, pivots.get(PIVOT_2) as Buffer],
  [PIVOT_2, pivots.get(PIVOT_1) as Buffer],
]);
const without = (address: string) => new Map([...pivots].filter(([one]) => one !== address));
const REFUSED: { readonly [name: string]: readonly [() => unknown, RegExp] } = {
  'a missing pivot': [() => walk(lotl, { found: without(PIVOT_1) }), /needs the pivot/],
  'pivots in another order': [() => walk(lotl, { found: swapped }), /another order/],
  'a journal that it does not name': [
    () => walk(lotl, { anchor: { journal: 'https://journal.test/other' } }),
    /does not name/,
  ],
  'a newer journal before the configured one': [
    () => walk(signList(lotlText([first], { uris: ['https://journal.test/new/oj', JOURNAL] }), first)),
    /newer journal/,
  ],
  'another address of its own': [
    () => walk(lotl, { anchor: { location: 'https://lists.test/other.xml' } }),
    /stands at/,
  ],
  'a list of lists past its renewal': [() => walk(lotl, { at: AT + 100 * DAY }), /renewed by/],
  'a signer of the next set alone': [
    () => walk(signList(lotlText([first, second]), second), { anchor: { signers: fingerprints(first) } }),
    /may not sign/,
  ],
  'a signer that the list of lists itself does not name': [
    () => walk(signList(lotlText([second]), first)),
    /may not sign/,
  ],
  'a signer that only the pivot names': [
    () => walk(signList(lotlText([third], { uris: PATH }), second)),
    /may not sign/,
  ],
  'a signer that the pivot does not name': [
    () => walk(signList(lotlText([stranger], { uris: PATH }), stranger)),
    /may not sign/,
  ],
  'an altered pivot': [
    () => walk(lotl, { found: new Map([...pivots, [PIVOT_1, altered(pivots.get(PIVOT_1) as Buffer)]]) }),
    /another digest/,
  ],
  'a first pivot that the journal does not vouch for': [
    () => walk(lotl, { anchor: { signers: fingerprints(third) } }),
    /may not sign/,
  ],
  'a national list in its place': [() => walk(list), /is no list of lists/],
};

function altered(bytes: Buffer): Buffer {
  return Buffer.from(
    bytes.toString().replace('<Name xml:lang="en">Scheme</Name>', '<Name xml:lang="en">Schema</Name>'),
  );
}

for (const [name, [run, message]] of Object.entries(REFUSED)) {
  test(`the list of lists is refused with ${name}`, (t) => {
    t.throws(run, { message });
  });
}

const [pointer] = nationalPointers(readTrustedList(lotl));
const national = (bytes: Buffer, at = AT) => readNationalList(bytes, pointer as never, at);
const inserted = (bytes: Buffer, before: string, more: string) =>
  Buffer.from(bytes.toString().replace(before, `${more}${before}`));
const signatureIn = (bytes: Buffer) =>
  /<(\w+:)?Signature [\s\S]*<\/(\w+:)?Signature>/.exec(bytes.toString())?.[0] ?? '';

/** A list with a signature of a stranger over a part of it. */
function signedInPart(): Buffer {
  const output = new MemoryOutput();
  signFile({
    format: 'Xades',
    input: Buffer.from(listText().replace('<SchemeOperatorName>', '<SchemeOperatorName Id="part">')),
    output,
    signer: stranger,
    at: AT - DAY,
    xades: { packaging: 'element', elementId: 'part' },
  });
  return Buffer.from(output.bytes);
}

const BAD_LISTS: { readonly [name: string]: readonly [() => Buffer, RegExp] } = {
  'no signature': [() => Buffer.from(listText()), /no signature/],
  'an altered value': [() => altered(list), /another digest/],
  'two signatures': [() => signList(signedInPart().toString(), first), /more than one signature/],
  'its signature twice': [
    () => inserted(list, '</TrustServiceStatusList>', signatureIn(list)),
    /more than one signature|not accepted/,
  ],
  'a comment inside of a value': [() => inserted(list, 'cheme</Name>', '<!-- -->'), /not accepted/],
  'another territory': [() => signList(listText({ territory: 'FR' }), first), /is that of FR/],
  'another signer with a valid signature': [() => signList(listText(), stranger), /may not sign/],
  'a list of lists in its place': [() => signList(lotlText([first]), first), /is no national list/],
  'version 4': [() => signList(listText({ version: '4' }), first), /version/],
  'a signature outside of the validity of its certificate': [
    () => signList(listText(), first, AT - 1000 * DAY),
    /outside of the validity|not accepted/,
  ],
  'a signature in the future': [
    () => signList(listText(), first, AT + DAY),
    /newer than the time of validation \(--at\)/,
  ],
  'too many bytes': [() => inserted(list, '</TrustServiceStatusList>', ' '.repeat(2 ** 24)), /more than/],
  'a bomb of elements': [
    () => inserted(list, '</TrustServiceStatusList>', '<a/>'.repeat(400_001)),
    /more elements/,
  ],
  'a document type': [
    () =>
      Buffer.from(list.toString().replace('<TrustServiceStatusList', '<!DOCTYPE a><TrustServiceStatusList')),
    /document type/,
  ],
};

for (const [name, [make, message]] of Object.entries(BAD_LISTS)) {
  test(`a national list is refused with ${name}`, (t) => {
    t.throws(() => national(make()), { message });
  });
}

test('a national list past its renewal, in version 5, or with a comment outside of it stays authentic', (t) => {
  t.is(national(list, AT + 100 * DAY).territory, 'BE');
  t.is(national(signList(listText({ version: '5' }), first)).version, '5');
  t.is(national(inserted(list, '<TrustServiceStatusList', '<!-- hello -->')).territory, 'BE');
});

test('a signature over a part of the list alone does not make it authentic', (t) => {
  const part = signList(
    '<TrustServiceStatusList xmlns="http://uri.etsi.org/02231/v2#"><a/></TrustServiceStatusList>',
    first,
  );
  const wrapped = Buffer.from(`<w>${part.toString().replace(/<\?xml[^>]*>/, '')}</w>`);
  t.throws(() => authenticate(wrapped, fingerprints(first), AT));
});
