import { enter, readWhole } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import type { Certificate } from '../certificates/certificate.ts';
import { takeSigned } from '../certificates/structure-signature.ts';
import { keyBits, signatureMethod } from '../cms/signature-value.ts';
import type { AlgorithmUse } from './facts.ts';

/** What the signature on a certificate rests on; RSASSA-PSS names its hash in the parameters (RFC 4055 §3.1). */
export function algorithmsOn(certificate: Certificate, issuer: Certificate): AlgorithmUse[] {
  const method = signatureMethod(certificate.signatureAlgorithm);
  const bits = keyBits(issuer.publicKey);
  const where = 'signature of a certificate';
  const name = method?.scheme ?? certificate.signatureAlgorithm;
  const uses: AlgorithmUse[] = [{ name, where, ...(bits === undefined ? {} : { bits }) }];
  if (method === undefined || method.scheme === 'ed25519') return uses;
  const { hash } =
    method.hash === undefined ? takeSigned(enter(readWhole(certificate.der), TAG.sequence)) : method;
  return [...uses, { name: hash ?? 'an unknown hash function', where }];
}
