/** Public API of the signature engine: paths, bytes and keys in; signed files and reports out. */
export { augmentAsic } from './asic/augment.ts';
export { asicDataObjects } from './asic/data-objects.ts';
export { signAsic } from './asic/sign.ts';
export { addCadesSigner, addCadesSignerAtLevel } from './cades/add-signer.ts';
export { counterSignCades } from './cades/counter-sign.ts';
export { joinCadesSigners } from './cades/join-signers.ts';
export { certificatesInBundle } from './cms/certificate-bundle.ts';
export { formatOfHeader, HEADER_BYTES } from './core/header-format.ts';
export type { PageContent, PagePlace } from './core/page-content.ts';
export {
  type BegunSigning,
  type Check,
  CryptoError,
  type DigestName,
  type Fingerprint,
  type PadesFormat,
  type SignatureFormat,
  type SignatureLevel,
  type SignaturePolicy,
  type SignedFile,
  type Signer,
  type SignFileRequest,
  type XadesFormat,
} from './core/types.ts';
export type {
  CertificateRecord,
  Indication,
  SignatureRecord,
  TimestampRecord,
  ValidationItem,
  ValidationReport,
  ValidationResults,
} from './core/validation-report.ts';
export { decryptFile, EnvelopeError } from './envelope/decrypt.ts';
export { encryptFile } from './envelope/encrypt.ts';
export { envelopeKey, NONCE_BYTES } from './envelope/format.ts';
export type {
  AuthorityRequest,
  AuthorityTransport,
  Evidence,
  EvidenceSource,
  SigningServices,
  TimestampAuthority,
} from './evidence/authorities.ts';
export { createEvidenceSource } from './evidence/evidence-source.ts';
export { createTimestampAuthority } from './evidence/timestamp-authority.ts';
export { type KeySource, loadSigner } from './keys/load.ts';
export type { LoadedSigner } from './keys/loaded-signer.ts';
export {
  deserializeSigner,
  type LocalSigner,
  type SerializedSigner,
  serializeSigner,
} from './keys/transfer.ts';
export { pictureFaultIn } from './pades/appearance/picture-check.ts';
export { signPadesSeries } from './pades/series.ts';
export { countPdfSignatures } from './pades/signature-count.ts';
export { countPdfPages } from './pdf/document/page-count.ts';
export { isShowable } from './pdf/fonts/shown-text.ts';
export { jpegOrientation } from './pdf/graphics/jpeg.ts';
export { type ComposeRequest, composePdf, type DrawnPage } from './pdf/pages/compose.ts';
export {
  type DrawnItem,
  isPicture,
  pictureFault,
  quickPictureFault,
  textWidth,
  wrapText,
} from './pdf/pages/drawing.ts';
export type { ShownPage } from './pdf/pages/page-copy.ts';
export {
  augmentFile,
  beginSigning,
  finishSigning,
  signFile,
  signFileAtLevel,
  trySigning,
  verifyFile,
} from './sign.ts';
export { externalSigner } from './two-step/external-signer.ts';
export { certificateOfState } from './two-step/stored-signer.ts';
export { type ValidateFileRequest, validateFile } from './validate.ts';
export { UNPROVEN } from './validation/chain.ts';
export { brokenSignatures, isIntact, matchingSignature } from './validation/signature-comparison.ts';
export {
  buildCertificationPaths,
  checkSigningCertificate,
  completeChain,
  type SigningCertificateVerdict,
  validityFault,
} from './validation/signing-certificate.ts';
export type { TrustSettings } from './validation/trust.ts';
export { validationReportXml } from './validation/validation-report-xml.ts';
export { readCertificate } from './x509/certificate.ts';
export { makeDevelopmentCertificates } from './x509/development.ts';
export { companyNumber, holderIdentifiers } from './x509/holder.ts';
export { certificatesIn } from './x509/pem.ts';
export { assertElementPath } from './xades/elements/element-path.ts';
export { assertUnpacksWithin } from './zip/unpacked-size.ts';
export { ZipError } from './zip/zip-error.ts';
export { ZipWriter } from './zip/zip-writer.ts';
