/** Valid signatures of every packaging, each with the elements that a wrapping attack moves. */
import { createHash } from 'node:crypto';
import type { InspectXadesOptions } from '#crypto/xades/validate.js';
import { DS, ENVELOPED, EXC, type Forgery, forge, goodProperties, SHA256, transform } from './forging.ts';
import type { SignedElement } from './moved-elements.ts';

export interface WrappingFormat {
  readonly name: string;
  readonly honest: string;
  readonly signed: readonly SignedElement[];
  readonly options?: InspectXadesOptions;
  /** Ancestors of the one valid position in its signature; undefined: only an Id identifies the signed element. */
  readonly position?: string;
}

const IN_SIGNATURE = 'ds:Signature';
const IN_OBJECT = 'ds:Signature/ds:Object';
const IN_PROPERTIES = 'ds:Signature/ds:Object/xades:QualifyingProperties';
const PAY = '<pay Id="p">100</pay>';
const EVIL = '<pay Id="p">999</pay>';
const XMLNS = `xmlns:ds="${DS}"`;

const xpath = (expression: string): string =>
  transform('http://www.w3.org/TR/1999/REC-xpath-19991116', `<ds:XPath>${expression}</ds:XPath>`);
const object = (content: string, id = 'o'): string => `<ds:Object ${XMLNS} Id="${id}">${content}</ds:Object>`;

/** Builds `<ds:Manifest>` with one reference to a file. */
function manifest(file: string): string {
  const digest = createHash('sha256').update(file).digest('base64');
  return (
    `<ds:Manifest ${XMLNS} Id="m"><ds:Reference URI="a.txt">` +
    `<ds:DigestMethod Algorithm="${SHA256}"></ds:DigestMethod><ds:DigestValue>${digest}</ds:DigestValue>` +
    '</ds:Reference></ds:Manifest>'
  );
}

/** Builds the object in canonical form, in which the Manifest repeats no declaration. */
function listingObject(file: string): string {
  return object(manifest(file).replace(` ${XMLNS}`, ''));
}

function fileBeside(text: string): InspectXadesOptions {
  const bytes = Buffer.from(text);
  return { content: { size: bytes.length, chunks: () => [bytes][Symbol.iterator]() } };
}

function enveloping(type: string | undefined, inside: Partial<Forgery> = {}): string {
  const reference = { uri: '#o', data: object(PAY), ...(type === undefined ? {} : { type }) };
  return forge({ references: [reference], objects: object(PAY), ...inside });
}

function withManifest(type: string | undefined): string {
  const data = manifest('100');
  const reference = { uri: '#m', data, ...(type === undefined ? {} : { type }) };
  return forge({ references: [reference], objects: `<ds:Object>${data}</ds:Object>` });
}

/** Lists all forms; each is TOTAL-PASSED unchanged, with its `options`. */
export function wrappingForms(): WrappingFormat[] {
  const objectType = `${DS}Object`;
  const manifestType = `${DS}Manifest`;
  const beside = `<r>${PAY}<note>a</note>${forge({ references: [{ uri: '#p', data: PAY }] })}</r>`;
  const whole = `<r Id="root"><pay>100</pay></r>`;
  const envelopedById = `<r Id="root"><pay>100</pay>${forge({
    references: [{ uri: '#root', data: whole, transforms: transform(ENVELOPED) + transform(EXC) }],
  })}</r>`;
  const byInnerId = forge({
    references: [{ uri: '#p', data: PAY }],
    objects: `<ds:Object>${PAY}</ds:Object>`,
  });
  const listing = listingObject('100');
  const evilObject = { text: object(PAY), substitute: object(EVIL) };
  const evilManifest = { text: manifest('100'), substitute: manifest('999') };
  const properties = goodProperties('sig', ['sig-r0']);
  const dated = enveloping(objectType, { properties });
  const onFile = { uri: 'a.txt', data: '100', transforms: '' };
  const detached = forge({ references: [onFile], properties });
  const detachedWithObject = forge({
    references: [onFile, { uri: '#o', data: object(PAY), type: objectType }],
    objects: object(PAY),
  });
  const evilProperties = {
    text: properties,
    substitute: properties.replace(/<xades:SigningTime>\d{4}/, '<xades:SigningTime>1999'),
  };
  return [
    {
      name: 'enveloping, Type Object',
      honest: enveloping(objectType),
      signed: [evilObject],
      position: IN_SIGNATURE,
    },
    {
      name: 'enveloping, no Type',
      honest: enveloping(undefined),
      signed: [evilObject],
      position: IN_SIGNATURE,
    },
    {
      name: 'Manifest, Type Manifest',
      honest: withManifest(manifestType),
      signed: [evilManifest],
      options: fileBeside('100'),
      position: IN_OBJECT,
    },
    {
      name: 'Manifest, no Type',
      honest: withManifest(undefined),
      signed: [evilManifest],
      options: fileBeside('100'),
      position: IN_OBJECT,
    },
    {
      name: 'Object with a Manifest',
      honest: forge({ references: [{ uri: '#o', data: listing, type: objectType }], objects: listing }),
      signed: [{ text: listing, substitute: listingObject('999') }],
      options: fileBeside('100'),
      position: IN_SIGNATURE,
    },
    { name: 'signed properties', honest: dated, signed: [evilProperties], position: IN_PROPERTIES },
    {
      name: 'signed properties of a detached signature',
      honest: detached,
      signed: [evilProperties],
      options: fileBeside('100'),
      position: IN_PROPERTIES,
    },
    {
      name: 'Object of a detached signature',
      honest: detachedWithObject,
      signed: [evilObject],
      options: fileBeside('100'),
      position: IN_SIGNATURE,
    },
    { name: 'element', honest: beside, signed: [{ text: PAY, substitute: EVIL }] },
    { name: 'element in an Object', honest: byInnerId, signed: [{ text: PAY, substitute: EVIL }] },
    {
      name: 'element, with the enveloped transform beside it',
      honest: `<r>${PAY}<note>a</note>${forge({
        references: [{ uri: '#p', data: PAY, transforms: transform(ENVELOPED) + transform(EXC) }],
      })}</r>`,
      signed: [{ text: PAY, substitute: EVIL }],
    },
    {
      name: 'document without the element around the signature',
      honest: `<r>${PAY}<note>a</note><ext>${forge({
        references: [
          {
            uri: '',
            data: `<r>${PAY}<note>a</note></r>`,
            transforms: xpath('not(ancestor-or-self::ext)') + transform(EXC),
          },
        ],
      })}</ext></r>`,
      signed: [{ text: PAY, substitute: EVIL }],
    },
    {
      name: 'element that an XPath transform keeps',
      honest: `<r>${PAY}<note>a</note>${forge({
        references: [{ uri: '', data: PAY, transforms: xpath('ancestor-or-self::pay') + transform(EXC) }],
      })}</r>`,
      signed: [{ text: PAY, substitute: EVIL }],
    },
    {
      name: 'enveloped by Id',
      honest: envelopedById,
      signed: [{ text: envelopedById, substitute: '<r Id="root"><pay>999</pay></r>' }],
    },
  ];
}
