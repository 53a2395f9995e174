/** Joins the signers of two detached CAdES files over the same content (RFC 5652 §5.1). */

import { digestIdentifier } from '../algorithms/algorithm-identifier.ts';
import { DIGEST_BY_OID } from '../asn1/oids.ts';
import type { SignedFile } from '../core/types.ts';
import { openSource } from '../files/source.ts';
import { amended, readExisting } from './existing-signature.ts';
import { assertExtensible, assertIntact } from './integrity.ts';
import { type FileNames, withFiles } from './signature-files.ts';

export interface JoinCadesSignersRequest extends FileNames {
  /** The detached signature file whose signers are added to those of `input`. */
  readonly added: string;
  /** The content of both. */
  readonly content: string;
}

/**
 * Adds the signers of one file to the other; every signature keeps its bytes.
 * @throws {CryptoError} as `augmentCades` without services; `signature.mismatch` when one of the two is not over the
 * content
 */
export function joinCadesSigners(request: JoinCadesSignersRequest): SignedFile {
  return withFiles(request, 'as-input', (source, output) => {
    const existing = readExisting(source, request.content);
    assertIntact(existing, source);
    assertExtensible(existing, source);
    const added = openSource(request.added);
    try {
      const joining = readExisting(added, request.content);
      assertIntact(joining, added);
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
