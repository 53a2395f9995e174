import { keyBits, signatureMethod } from '../algorithms/signature-value.ts';
import { enter, readWhole } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import type { AlgorithmUse } from '../core/finding.ts';
import type { Certificate } from './certificate.ts';
import { readSignedStructure } from './structure-signature.ts';

/** Lists the algorithms of a certificate's signature; RSASSA-PSS has its hash in the parameters (RFC 4055 §3.1). */
export function algorithmsOn(certificate: Certificate, issuer: Certificate): AlgorithmUse[] {
  const method = signatureMethod(certificate.signatureAlgorithm);
  const bits = keyBits(issuer.publicKey);
  const where = 'signature of a certificate';
  const name = method?.scheme ?? certificate.signatureAlgorithm;
  const uses: AlgorithmUse[] = [{ name, where, ...(bits === undefined ? {} : { bits }) }];
  if (method === undefined || method.scheme === 'ed25519') return uses;
  const { hash } =
    method.hash === undefined ? readSignedStructure(enter(readWhole(certificate.der), TAG.sequence)) : method;
  return [...uses, { name: hash ?? 'an unknown hash function', where }];
}
