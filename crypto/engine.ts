/** One door to the three formats. Synchronous: meant for a pool thread. */
import { signCades } from './cades/sign.ts';
import { verifyCades } from './cades/verify.ts';
import { signPades } from './pades/sign.ts';
import { verifyPades } from './pades/verify.ts';
import type {
  SignatureFormat,
  SignedFile,
  SignFileRequest,
  VerificationReport,
  VerifyFileRequest,
} from './types.ts';
import { signXades } from './xades/sign.ts';
import { verifyXades } from './xades/verify.ts';

const SIGN: { readonly [format in SignatureFormat]: (request: SignFileRequest) => SignedFile } = {
  Pades: signPades,
  Cades: signCades,
  Xades: signXades,
};

const VERIFY: { readonly [format in SignatureFormat]: (request: VerifyFileRequest) => VerificationReport } = {
  Pades: verifyPades,
  Cades: verifyCades,
  Xades: verifyXades,
};

/**
 * Signs one file at baseline level B. When this returns, the output's bytes are on the disk (unless `sync` is false;
 * its folder entry is the caller's to sync); when it throws, there is no output.
 * @throws {CryptoError}
 */
export function signFile(request: SignFileRequest): SignedFile {
  return SIGN[request.format](request);
}

/**
 * Checks the signatures of one file, from the bytes on disk alone. A bad signature is a report that is not ok;
 * @throws {CryptoError} when the file can't be read at all
 */
export function verifyFile(request: VerifyFileRequest): VerificationReport {
  return VERIFY[request.format](request);
}
