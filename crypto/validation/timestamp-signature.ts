/** Reports a time-stamp that stands alone like a signature of its authority; it is nobody's signature of the content. */
import { algorithmsOf } from '../cms/attribute-checks.ts';
import type { AlgorithmUse } from '../core/validation-report.ts';
import { timestampSigner } from '../evidence/timestamp-checks.ts';
import type { Certificate } from '../x509/certificate.ts';
import { type SignatureInfo, type TimestampInfo, UNKNOWN_SIGNATURE_INFO } from './signature-info.ts';

/** @param others candidates for the authority's certificate and its issuers */
export function timestampSignature(
  stamp: TimestampInfo,
  place: Pick<SignatureInfo, 'format' | 'name' | 'scope'>,
  others: readonly Certificate[] = [],
): SignatureInfo {
  const { token, findings } = stamp;
  const [signer] = token?.signedData.signers ?? [];
  const certificate = token === undefined ? undefined : timestampSigner(token, others);
  return {
    ...UNKNOWN_SIGNATURE_INFO,
    ...place,
    findings,
    certificate,
    certificates: [...(token?.certificates ?? []), ...others],
    claimedTime: token?.genTime,
    algorithms: algorithmsIn(stamp, certificate),
    isTimestamp: true,
    ...(signer !== undefined && { value: signer.signature }),
  };
}

function algorithmsIn({ token }: TimestampInfo, certificate: Certificate | undefined): AlgorithmUse[] {
  const [signer] = token?.signedData.signers ?? [];
  if (token === undefined || signer === undefined) return [];
  return [
    { name: token.imprintAlgorithm, where: 'imprint of the time-stamp' },
    ...algorithmsOf(signer, certificate),
  ];
}
