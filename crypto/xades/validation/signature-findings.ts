/** Findings about one signature other than its references, certificate and time-stamps. */

import type { AlgorithmUse, Finding } from '../../core/validation-report.ts';
import type { Certificate } from '../../x509/certificate.ts';
import { keyBits } from '../../x509/signature-value.ts';
import { isMac, type ValueMethod, valueFault } from './algorithms.ts';
import { type DocumentMap, idsNamedIn } from './document-map.ts';
import type { ExaminedReferences } from './examine-references.ts';
import { printable } from './reference-data.ts';
import { attributeOf } from './signature-node.ts';
import type { SignatureFormat } from './signed-info.ts';

/** Checks that the identifiers by which the signature names parts of itself are unique. */
export function uniqueIds(map: DocumentMap, form: SignatureFormat): Finding {
  const own = [form.id, form.properties?.signed?.id, attributeOf(form.valueNode, 'Id')];
  const ofReferences = form.references.map(({ id }) => id);
  const isRepeated = (named: ReadonlySet<string>) => (id: string | undefined) =>
    id !== undefined && named.has(id) && map.elementsNamed(id).length > 1;
  const repeated =
    own.find(isRepeated(idsNamedIn([form.node], 'pointers'))) ??
    ofReferences.find(isRepeated(idsNamedIn([form.node], 'properties')));
  if (repeated === undefined) {
    return {
      status: 'passed',
      type: 'ids.unique',
      message: 'Each identifier the signature relies on names one element.',
    };
  }
  return {
    status: 'failed',
    type: 'ids.unique',
    message: `The identifier "${printable(repeated)}" names several elements.`,
    subIndication: 'FORMAT_FAILURE',
  };
}

/** Checks that the XAdES properties are signed. */
export function protectionFindings(
  { properties }: SignatureFormat,
  { references }: ExaminedReferences,
): Finding[] {
  if (properties?.signed === undefined) {
    const message =
      'The signature has no signed properties: a plain XML signature, which says neither when nor by which certificate.';
    return [{ status: 'warning', type: 'attributes.xades', message }];
  }
  const over = references.filter(({ role }) => role === 'properties').length;
  if (over === 1) return targetFindings(properties.looseTarget);
  const message =
    over === 0
      ? 'The signed properties are not signed.'
      : 'Several references are over the signed properties.';
  return [{ status: 'failed', type: 'structure.properties', message, subIndication: 'FORMAT_FAILURE' }];
}

/** Reports a Target that does not name the signature; the signed reference still binds the properties (EN 319 132-1 §4.3.1). */
function targetFindings(looseTarget: string | undefined): Finding[] {
  if (looseTarget === undefined) return [];
  const message =
    looseTarget === ''
      ? 'The properties do not name the signature that they belong to.'
      : 'The properties name the signature that they belong to without "#".';
  return [{ status: 'warning', type: 'attributes.target', message }];
}

export function valueFindings(
  form: SignatureFormat,
  method: ValueMethod | undefined,
  signedInfo: Buffer | string,
  certificate: Certificate | undefined,
): Finding[] {
  if (isMac(form.method)) {
    const message = 'A keyed hash is no signature: whoever can check it can make it.';
    return [{ status: 'failed', type: 'algorithm.signature', message, subIndication: 'FORMAT_FAILURE' }];
  }
  if (method === undefined) {
    const message = `The signature algorithm ${printable(form.method)} is not accepted.`;
    return [
      { status: 'failed', type: 'algorithm.signature', message, subIndication: 'CRYPTO_CONSTRAINTS_FAILURE' },
    ];
  }
  if (form.methodHasParameters) {
    const message = 'The signature algorithm has parameters, which it does not take.';
    return [{ status: 'failed', type: 'algorithm.signature', message, subIndication: 'FORMAT_FAILURE' }];
  }
  if (!Buffer.isBuffer(signedInfo)) {
    const message = `SignedInfo can't be read: ${signedInfo}.`;
    return [{ status: 'failed', type: 'signature.value', message, subIndication: 'FORMAT_FAILURE' }];
  }
  if (certificate === undefined) return [];
  const fault = valueFault(method, certificate.publicKey, signedInfo, form.value);
  if (fault === undefined) {
    const message = 'The key of the certificate made the signature.';
    return [{ status: 'passed', type: 'signature.value', message }];
  }
  const message = `The key of the certificate did not make the signature: ${fault}.`;
  return [{ status: 'failed', type: 'signature.value', message, subIndication: 'SIG_CRYPTO_FAILURE' }];
}

export function valueAlgorithms(
  form: SignatureFormat,
  method: ValueMethod | undefined,
  certificate: Certificate | undefined,
): AlgorithmUse[] {
  const bits = certificate === undefined ? undefined : keyBits(certificate.publicKey);
  const value = {
    name: method?.scheme ?? form.method,
    where: 'signature value',
    ...(bits === undefined ? {} : { bits }),
  };
  if (method === undefined || method.scheme === 'ed25519') return [value];
  return [value, { name: method.hash, where: 'digest of what is signed' }];
}

export function timeFindings(
  { properties }: SignatureFormat,
  claimed: { readonly zoned: boolean } | undefined,
): Finding[] {
  const type = 'attributes.signing-time';
  if (properties?.signed === undefined) return [];
  if (claimed?.zoned) {
    return [{ status: 'passed', type, message: 'The claimed time of signing stands where it has to.' }];
  }
  const message =
    claimed !== undefined
      ? 'The claimed time of signing has no time zone; UTC is assumed.'
      : properties.signed.signingTime === undefined
        ? 'The time of signing is not claimed, which baseline signatures have to.'
        : 'The claimed time of signing is no time.';
  return [{ status: 'warning', type, message }];
}

/** Checks that the data type of each reference is stated, except in counter-signatures (EN 319 132-1 §6.3). */
export function formatFindings(
  { properties }: SignatureFormat,
  { references }: ExaminedReferences,
  counters: boolean,
): Finding[] {
  const signed = properties?.signed;
  if (signed === undefined || counters) return [];
  const described = new Set(signed.formats);
  const needed = references.filter(({ role }) => role === 'data' || role === 'manifest');
  const missing = needed.filter(({ form: { id } }) => id === undefined || !described.has(`#${id}`));
  if (missing.length === 0) return [];
  const message = 'What kind of data is signed is not said, which baseline signatures have to.';
  return [{ status: 'warning', type: 'attributes.data-format', message }];
}

export function policyFindings({ properties }: SignatureFormat): Finding[] {
  const policy = properties?.signed?.policy;
  if (policy === undefined) return [];
  const message =
    policy.identifier === undefined
      ? 'The signature says that its policy follows from the context.'
      : 'The signature names its policy.';
  const detail = policy.identifier === undefined ? {} : { detail: printable(policy.identifier) };
  return [{ status: 'passed', type: 'attributes.policy', message, ...detail }];
}
