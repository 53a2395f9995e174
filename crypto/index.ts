/** Public API of the signature engine: paths, bytes and keys in; signed files and reports out. */
/// <reference types="node" preserve="true" />

export { addAsicSignature } from './asic/add-signature.ts';
export { augmentAsic } from './asic/augment.ts';
export { asicDataObjects } from './asic/container.ts';
export { counterSignAsic } from './asic/counter-sign.ts';
export { signAsic } from './asic/sign.ts';
export { addCadesSigner, addCadesSignerAtLevel, joinCadesSigners } from './cades/add-signer.ts';
export { counterSignCades } from './cades/counter-sign.ts';
export { type SignDigestRequest, signCadesDigest } from './cades/sign.ts';
export { certificatesInBundle } from './cms/parse.ts';
export { formatOfHeader, HEADER_BYTES } from './core/header-format.ts';
export {
  type BegunSigning,
  type Check,
  CryptoError,
  type CryptoErrorCode,
  type DigestName,
  type Fingerprint,
  type InputFile,
  MemoryOutput,
  type OutputFile,
  type PadesFormat,
  type PageContent,
  type PagePlace,
  type RemoteSigner,
  type SignAtLevelRequest,
  type SignatureAlgorithm,
  type SignatureFormat,
  type SignatureLevel,
  type SignaturePolicy,
  type SignedFile,
  type Signer,
  type SignerIdentity,
  type SignFileRequest,
  type SigningWarning,
  type ToBeSigned,
  type XadesFormat,
} from './core/types.ts';
export type {
  CertificateRecord,
  Indication,
  SignatureQualification,
  SignatureRecord,
  SignatureWord,
  TimestampRecord,
  ValidationItem,
  ValidationReport,
  ValidationResults,
} from './core/validation-report.ts';
export { decryptFile, EnvelopeError, encryptFile, envelopeKey, NONCE_BYTES } from './envelope/envelope.ts';
export type {
  AuthorityRequest,
  AuthorityTransport,
  Evidence,
  EvidenceSource,
  SigningServices,
  TimestampAuthority,
} from './evidence/authorities.ts';
export { createEvidenceSource } from './evidence/evidence-source.ts';
export {
  createHttpTransport,
  type HttpTransport,
  type HttpTransportOptions,
} from './evidence/http-transport.ts';
export { createTimestampAuthority } from './evidence/timestamp-authority.ts';
export {
  augmentFile,
  beginSigning,
  finishSigning,
  signFile,
  signFileAtLevel,
  trySigning,
  verifyFile,
} from './files/sign-file.ts';
export {
  type ExtendOptions,
  type Signatures,
  type SignaturesOptions,
  type SignOptions,
  signatures,
  type Verdict,
} from './files/signatures.ts';
export {
  type ReadSignatures,
  readSignatures,
  type SignedFileRequest,
  type ValidateFileRequest,
  validateFile,
} from './files/validate-file.ts';
export { type KeySource, loadSigner } from './keys/load.ts';
export { identityOf, type LoadedIdentity, type LoadedSigner } from './keys/loaded-signer.ts';
export {
  certificateOfState,
  checkedSignatureValue,
  externalSigner,
  signerOfState,
} from './keys/stored-signer.ts';
export {
  deserializeSigner,
  type LocalSigner,
  type SerializedSigner,
  serializeSigner,
} from './keys/transfer.ts';
export { pictureFaultIn } from './pades/appearance/draw.ts';
export { countPdfSignatures } from './pades/fields/signatures.ts';
export { signPadesSeries } from './pades/levels.ts';
export { letterWarnings } from './pades/signing-warnings.ts';
export { countPdfPages } from './pdf/document/page.ts';
export { isShowable } from './pdf/fonts/shaped-text.ts';
export { jpegOrientation } from './pdf/graphics/jpeg.ts';
export { firstPageSize } from './pdf/graphics/page-view.ts';
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
export { type QualificationDemand, unmetDemand } from './qualification/demand.ts';
export { qualifySigner, servicesFor, type TrustLists } from './qualification/signature-qualification.ts';
export {
  folderSource,
  type KeptState,
  keptLists,
  type ListPlace,
  networkSource,
  readKeptState,
  refreshLists,
} from './trust-lists/kept-lists.ts';
export { anchorOf } from './trust-lists/list-folder.ts';
export { UNPROVEN } from './validation/chain.ts';
export { type MadePolicy, type PolicyRequest, policyToSign } from './validation/icp-brasil.ts';
export {
  brokenSignatures,
  isIntact,
  matchingSignature,
  newFaults,
} from './validation/signature-comparison.ts';
export {
  buildCertificationPaths,
  checkSigningCertificate,
  completeChain,
  type SigningCertificateVerdict,
  validityFault,
} from './validation/signing-certificate.ts';
export type { TrustSettings } from './validation/trust.ts';
export { validationReportXml } from './validation/validation-report-xml.ts';
export { certificatesIn, readCertificate } from './x509/certificate.ts';
export { makeDevelopmentCertificates } from './x509/development.ts';
export { companyNumber, holderIdentifiers, holderName } from './x509/holder.ts';
export { nameFields } from './x509/names.ts';
export { counterSignXades } from './xades/counter-sign.ts';
export { assertElementPath } from './xades/elements/element-path.ts';
export { decodeXml } from './xml/encoding.ts';
export { attributeValue, type StartTag, type XmlListener } from './xml/events.ts';
export { readXml } from './xml/reader.ts';
export { ZipError } from './zip/zip-error.ts';
export { ZipMembers } from './zip/zip-member.ts';
export { ZipWriter } from './zip/zip-writer.ts';
