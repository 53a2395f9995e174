/** Checks the signature value of a SignerInfo and lists the algorithms it uses (RFC 5652 §5.4). */

import { HASH_BY_OID, type HashName } from '../algorithms/hashes.ts';
import { disagreementOf, keyBits, signatureMethod } from '../algorithms/signature-value.ts';
import { OID } from '../asn1/oids.ts';
import type { AlgorithmUse, Finding } from '../core/finding.ts';
import type { Certificate } from '../x509/certificate.ts';
import type { Attributes, SignerInfo } from './parse.ts';
import { attributesFault } from './signed-attributes.ts';

/** Checks that digest algorithm, signature algorithm and key match, and that the value is right. */
export function checkValue(
  signer: SignerInfo,
  attributes: Attributes,
  digest: HashName,
  certificate: Certificate,
): Finding[] {
  const { signatureAlgorithm: algorithm } = signer;
  const disagreement = disagreementOf({ algorithm, digest, key: certificate.publicKey });
  if (disagreement !== undefined) {
    return [failed('algorithm.agreement', `The algorithms contradict each other: ${disagreement}.`)];
  }
  const fault = attributesFault(signer, attributes, digest, certificate);
  return [
    ...(algorithm.id === OID.ecPublicKey ? [NAMED_BY_KEY] : []),
    {
      status: 'passed',
      type: 'algorithm.agreement',
      message: 'The algorithms agree with each other and the key.',
    },
    fault === undefined
      ? {
          status: 'passed',
          type: 'signature.value',
          message: 'The key of the certificate made the signature.',
        }
      : failed('signature.value', `The signature value is wrong: ${fault}.`),
  ];
}

const NAMED_BY_KEY: Finding = {
  status: 'warning',
  type: 'algorithm.identifier',
  message: 'The signature algorithm is named by the key alone, which leaves its digest open.',
};

function failed(type: string, message: string): Finding {
  return { status: 'failed', type, message, subIndication: 'SIG_CRYPTO_FAILURE' };
}

/** Lists the algorithms of the content digest and of the signature value. */
export function algorithmsOf(signer: SignerInfo, certificate: Certificate | undefined): AlgorithmUse[] {
  const { digestAlgorithm, signatureAlgorithm } = signer;
  const method = signatureMethod(signatureAlgorithm.id);
  const bits = certificate === undefined ? undefined : keyBits(certificate.publicKey);
  return [
    { name: HASH_BY_OID.get(digestAlgorithm) ?? digestAlgorithm, where: 'content digest' },
    {
      name: method?.scheme ?? signatureAlgorithm.id,
      where: 'signature value',
      ...(bits === undefined ? {} : { bits }),
    },
  ];
}
