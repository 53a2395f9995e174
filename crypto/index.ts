export type { AuthorityRequest, AuthorityTransport } from './authorities.ts';
export { readCertificate } from './certificates/certificate.ts';
export { type DevelopmentCertificates, makeDevelopmentCertificates } from './certificates/development.ts';
export { signFile, verifyFile } from './engine.ts';
export { type KeySource, type LoadedSigner, loadSigner } from './keys/load.ts';
export { certificatesIn } from './keys/pem.ts';
export {
  deserializeSigner,
  type LocalSigner,
  type SerializedSigner,
  serializeSigner,
} from './keys/transfer.ts';
export {
  type Check,
  CryptoError,
  type CryptoErrorCode,
  type DigestName,
  type Fingerprint,
  type SignatureFormat,
  type SignedFile,
  type Signer,
  type SignFileRequest,
  type VerificationReport,
  type VerifyFileRequest,
} from './types.ts';
