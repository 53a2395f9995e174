/** Process of the local authority: time-stamps, OCSP and CRLs over HTTP, and the signers it issued. */
import { serializeSigner } from '@sealwright/signatures';
import { startAuthority } from '../../test/pki/authority.ts';
import type { AuthorityInfo } from './authority.ts';

const authority = await startAuthority();
const { pki, timestampUrl } = authority;
const facts: AuthorityInfo = {
  timestampUrl,
  folder: pki.folder,
  rootFile: pki.rootFile,
  root: pki.root.certificate,
  intermediates: [pki.issuing.certificate, pki.stamping.certificate],
  signers: {
    rsa2048: serializeSigner(pki.signer('rsa-2048')),
    p256: serializeSigner(pki.signer('p-256')),
  },
};
process.send?.(facts);
// The channel closes when the parent process ends.
process.once('disconnect', () => process.exit(0));
