/** Signers of two detached CAdES files over the same content, brought together in one (RFC 5652 §5.1). */

import { DIGEST_BY_OID } from '../asn1/oids.ts';
import { digestIdentifier } from '../cms/algorithm-identifier.ts';
import { openSource } from '../files/source.ts';
import type { SignedFile } from '../types.ts';
import { amended, readExisting } from './existing-signature.ts';
import { type FileNames, withFiles } from './signature-files.ts';
import { assertOpen, assertSound } from './soundness.ts';

export interface JoinCadesSignersRequest extends FileNames {
  /** The detached signature file whose signers are added to those of `input`. */
  readonly added: string;
  /** What both are over. */
  readonly content: string;
}

/**
 * Every signature keeps its bytes, so that one may be made while others are added.
 * @throws {CryptoError} as `augmentCades` without authorities; `signature.mismatch` when one of the two is not over the
 *   content
 */
export function joinCadesSigners(request: JoinCadesSignersRequest): SignedFile {
  return withFiles(request, 'as-input', (source, output) => {
    const existing = readExisting(source, request.content);
    assertSound(existing, source);
    assertOpen(existing, source);
    const added = openSource(request.added);
    try {
      const joining = readExisting(added, request.content);
      assertSound(joining, added);
      const { signers, certificates } = joining.data;
      const digests = signers.flatMap(({ digestAlgorithm }) => DIGEST_BY_OID.get(digestAlgorithm) ?? []);
      const der = amended(source, existing.der, {
        digestAlgorithms: digests.map(digestIdentifier),
        certificates,
        signers: signers.map(({ encoding }) => encoding),
      });
      existing.write(der, output);
      return { sha256: existing.sha256 };
    } finally {
      added.close();
    }
  });
}
