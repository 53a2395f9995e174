/** Targets for reading, signing, validating and augmenting XML. */

import { MemoryOutput, type SignatureLevel, type XadesFormat } from '#crypto/core/types.js';
import { augmentXades } from '#crypto/xades/augment.js';
import { counterSignXades } from '#crypto/xades/counter-sign.js';
import { signXades } from '#crypto/xades/sign.js';
import { inspectXadesDocument } from '#crypto/xades/validate.js';
import { type CanonicalMethod, canonicalize, decodeXml, EXCLUSIVE, Names } from '#crypto/xml/index.js';
import { contentsOf, type FuzzEnvironment, memorySource, NOW } from './environment.ts';
import { several } from './mutate/mutation.ts';
import { xmlMutation } from './mutate/xml.ts';
import { outcomeOf, reportOn } from './outcome.ts';
import { BrokenPromise, type Target } from './target.ts';

const mutation = several(xmlMutation);

const DOCUMENTS = [
  '<a/>',
  '<?xml version="1.0" encoding="UTF-8"?>\r\n<!-- before -->\n<inv:invoice xmlns:inv="urn:i" xmlns="urn:d" Id="a">\n  <line n="1" inv:m=\'"2"\'>Item &amp; &#65; more</line>\n  <?pi data?><![CDATA[<raw>]]>\n  <empty/>\t</inv:invoice>\n<!-- after -->',
  '<r xmlns:a="urn:u" xmlns:b="urn:u"><b:x a:y="1" z="&lt;&#10;"><c xmlns="urn:v" xml:lang="de" xml:space="preserve"> <d xmlns=""/></c></b:x><e Id="a">text</e></r>',
  '<r xml:base="http://example.invalid/a/b"><s xml:base="../c"><t Id="a">ä€😀</t></s></r>',
].map((text) => Buffer.from(text));

const OUTSIDE = Buffer.from('What a detached signature is over.');

const LINE = '<r xmlns="urn:d" Id="a"><line n="1">To pay: 100</line><line n="2">To pay: 200</line></r>';

async function signedXml(environment: FuzzEnvironment): Promise<Buffer[]> {
  const signed: Buffer[] = [];
  const add = async (document: Buffer, level: SignatureLevel, xades: XadesFormat = {}): Promise<string> => {
    const path = await environment.sign(document, { format: 'Xades', level, xades });
    signed.push(contentsOf(path));
    return path;
  };
  const line = Buffer.from(LINE);
  for (const level of ['B', 'T', 'LT', 'LTA'] as const) await add(line, level);
  for (const document of DOCUMENTS) await add(document, 'B');
  await add(line, 'B', { packaging: 'element', elementId: 'a' });
  await add(line, 'T', { packaging: 'enveloping' });
  await add(OUTSIDE, 'B', { packaging: 'enveloping', mimeType: 'text/plain' });
  await add(OUTSIDE, 'B', { packaging: 'detached', uri: 'other.txt' });
  const open = await add(line, 'B', { coSignable: true });
  await add(contentsOf(open), 'B', { coSignable: true });
  const countered = environment.path();
  const signer = environment.pki.signer('p-256');
  await counterSignXades({ input: open, output: countered, signer, at: NOW, sync: false });
  signed.push(contentsOf(countered));
  return signed;
}

/** Returns the readable content of the seed documents without signatures, independent of spelling. */
function readable(document: Buffer): string {
  const text = document
    .toString('utf8')
    .replace(/<(?:\w+:)?Signature[\s>][\s\S]*<\/(?:\w+:)?Signature\s*>/, '');
  return [...text.matchAll(/To pay: \d+|\bn\s*=\s*["']\d/g)]
    .map(([said]) => said.replace(/[\s"']/g, ''))
    .join(' ');
}

/** Validation always gives a report; a passing document has the signed content. */
export async function xmlValidation(environment: FuzzEnvironment): Promise<Target> {
  const seeds = await signedXml(environment);
  const genuine = new Set(seeds.map(readable));
  let turn = 0;
  return {
    name: 'xml',
    seeds,
    mutation,
    run(input) {
      const outside = turn++ % 2 === 0 ? OUTSIDE : Buffer.from('Something else.');
      const facts = inspectXadesDocument(input, { content: memorySource(outside) });
      const report = reportOn(environment, 'Xades', facts);
      const whole = report.signatures.every(({ scope }) => scope.kind === 'document');
      if (report.indication === 'TOTAL-PASSED' && whole && !genuine.has(readable(input))) {
        throw new BrokenPromise('a document passes that says something else');
      }
      return outcomeOf(report);
    },
  };
}

/** Every signed document passes validation. */
export async function xmlSigning(environment: FuzzEnvironment): Promise<Target> {
  const signer = environment.pki.signer('p-256');
  const forms: readonly XadesFormat[] = [
    {},
    { packaging: 'element', elementId: 'a' },
    { packaging: 'enveloping' },
    { coSignable: true },
  ];
  let turn = 0;
  return {
    name: 'xml-sign',
    seeds: [...DOCUMENTS, Buffer.from(LINE), ...(await signedXml(environment)).slice(0, 3)],
    mutation,
    run(input) {
      const xades = forms[turn++ % forms.length] ?? {};
      const signed = new MemoryOutput();
      signXades({ format: 'Xades', input, output: signed, signer, at: NOW, xades });
      const output = signed.bytes;
      const { signatures } = reportOn(environment, 'Xades', inspectXadesDocument(output));
      const thumbprint = Buffer.from(signer.fingerprint, 'hex').toString('base64');
      const own = signatures.filter(({ certificate }) => certificate?.thumbprint === thumbprint);
      if (own.length === 0) throw new BrokenPromise('the signature that was made is not found');
      const bad = own.find(({ indication }) => indication !== 'TOTAL-PASSED');
      if (bad !== undefined && own.length === 1) {
        const reasons = bad.results.errors.map(({ message }) => message).join(' ');
        throw new BrokenPromise(`a new signature is ${bad.subIndication}: ${reasons}`);
      }
      return `signed ${own.length}`;
    },
  };
}

/** Augments and counter-signs signatures of unknown origin. */
export async function xmlAdding(environment: FuzzEnvironment): Promise<Target> {
  const signer = environment.pki.signer('p-256');
  let turn = 0;
  return {
    name: 'xml-add',
    seeds: await signedXml(environment),
    mutation,
    async run(bytes) {
      const input = environment.path(bytes, 'xml');
      const output = environment.path();
      const files = { input, output, at: NOW, sync: false };
      if (turn++ % 2 === 0) await counterSignXades({ ...files, signer });
      else await augmentXades({ ...files, format: 'Xades', to: 'LTA' }, environment.services);
      return `added ${outcomeOf(reportOn(environment, 'Xades', inspectXadesDocument(contentsOf(output))))}`;
    },
  };
}

/** Canonicalizing a canonical form gives the same bytes. */
export function xmlCanonical(): Target {
  const methods: readonly CanonicalMethod[] = [
    { kind: 'inclusive-1.0', comments: true, prefixes: [] },
    { kind: 'inclusive-1.1', comments: true, prefixes: [] },
    { kind: 'exclusive', comments: true, prefixes: [] },
    { kind: 'exclusive', comments: true, prefixes: ['', 'inv', 'a'] },
  ];
  let turn = 0;
  return {
    name: 'xml-canonical',
    seeds: [...DOCUMENTS, Buffer.from(LINE)],
    mutation,
    run(input) {
      const method = methods[turn++ % methods.length] ?? EXCLUSIVE;
      const once = canonical(input, method);
      if (!canonical(once, method).equals(once)) throw new BrokenPromise('canonical form is not stable');
      return `canonical ${Math.round(Math.log2(once.length + 1))}`;
    },
  };
}

function canonical(input: Buffer, method: CanonicalMethod): Buffer {
  const pieces: Buffer[] = [];
  const { utf8 } = decodeXml(input);
  // A sink's buffer is valid only until the next call.
  const sink = { update: (bytes: Buffer) => pieces.push(Buffer.from(bytes)) };
  canonicalize({ utf8, names: new Names() }, undefined, { method, sink });
  return Buffer.concat(pieces);
}
