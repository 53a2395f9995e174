/** The public names of the signature engine: paths, bytes and keys in; signed files and verdicts out. */
export { type AddAsicSignatureRequest, addAsicSignature } from './asic/add-signature.ts';
export { type AugmentAsicRequest, augmentAsic } from './asic/augment.ts';
export { type CounterSignAsicRequest, counterSignAsic } from './asic/counter-sign.ts';
export { type AsicInput, type SignAsicRequest, type SignedAsic, signAsic } from './asic/sign.ts';
export type {
  AuthorityRequest,
  AuthorityTransport,
  Evidence,
  EvidenceSource,
  SigningServices,
  TimestampAuthority,
} from './authorities.ts';
export { type AddCadesSignerRequest, addCadesSigner, addCadesSignerAtLevel } from './cades/add-signer.ts';
export { type CounterSignCadesRequest, counterSignCades } from './cades/counter-sign.ts';
export { type JoinCadesSignersRequest, joinCadesSigners } from './cades/join-signers.ts';
export { readCertificate } from './certificates/certificate.ts';
export { type DevelopmentCertificates, makeDevelopmentCertificates } from './certificates/development.ts';
export { companyNumber, holderIdentifiers } from './certificates/holder.ts';
export { certificatesInBundle } from './cms/certificate-bundle.ts';
export {
  augmentFile,
  beginSigning,
  finishSigning,
  signFile,
  signFileAtLevel,
  verifyFile,
} from './engine.ts';
export { envelopeKey, NONCE_BYTES as ENVELOPE_NONCE_BYTES } from './envelope/format.ts';
export { EnvelopeError, openEnvelope } from './envelope/open.ts';
export { type SealRequest, sealFile } from './envelope/seal.ts';
export { type KeySource, loadSigner } from './keys/load.ts';
export type { KeyWarning, LoadedSigner } from './keys/loaded-signer.ts';
export { certificatesIn } from './keys/pem.ts';
export {
  deserializeSigner,
  type LocalSigner,
  type SerializedSigner,
  serializeSigner,
} from './keys/transfer.ts';
export { isShowable } from './pades/appearance/shown-text.ts';
export {
  type ComposedPdf,
  type ComposeRequest,
  composePdf,
  type DrawnPage,
  type FilePart,
} from './pdf-pages/compose.ts';
export { type DrawnItem, isPicture, textWidth, wrapText } from './pdf-pages/drawing.ts';
export type { ShownPage } from './pdf-pages/page-copy.ts';
export { createEvidenceSource, type EvidenceSourceOptions } from './revocation/evidence-source.ts';
export { createTimestampAuthority, type TimestampAuthorityOptions } from './timestamps/authority.ts';
export { signerOfCertificate } from './two-steps/foreign-signer.ts';
export {
  type AugmentFileRequest,
  type BeginSigningRequest,
  type BegunSigning,
  type CadesForm,
  type Check,
  CryptoError,
  type CryptoErrorCode,
  type DigestName,
  type Fingerprint,
  type FinishSigningRequest,
  type PadesForm,
  type SignatureAppearance,
  type SignatureFormat,
  type SignatureLevel,
  type SignatureParameters,
  type SignaturePolicy,
  type SignedFile,
  type Signer,
  type SignerIdentity,
  type SignFileRequest,
  type VerificationReport,
  type VerifyFileRequest,
  type XadesForm,
} from './types.ts';
export type {
  CertificateRecord,
  ChangeRecord,
  Indication,
  SignatureRecord,
  SignatureScope,
  SubIndication,
  TimestampRecord,
  ValidationItem,
  ValidationReport,
  ValidationResults,
} from './validation/report.ts';
export {
  checkSigningCertificate,
  type SigningCertificateCode,
  type SigningCertificateVerdict,
  waysUp,
} from './validation/signing-certificate.ts';
export { counterpart, harmedSignatures, isIntact } from './validation/survival.ts';
export type { TrustSettings, ValidationRequest } from './validation/trust.ts';
export { type ValidateFileRequest, validateFile } from './validation/validate.ts';
export { type CounterSignXadesRequest, counterSignXades } from './xades/counter-sign.ts';
export { assertElementPath } from './xades/element-path.ts';
