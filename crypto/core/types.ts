/**
 * Requests, results and ports of the signature engine.
 *
 * All are plain data or small ports; none depends on jobs, folders or HTTP.
 */

/** The three families of ETSI baseline signatures. */
export type SignatureFormat = 'Pades' | 'Cades' | 'Xades';

/** Digest used for the content and for the signature. Source: RFC 5754 §2, RFC 9231 §2.1. */
export type DigestName = 'sha256' | 'sha384' | 'sha512';

/** Baseline level: evidence that a signature carries for later validation (EN 319 142-1 §6.1 and its siblings). */
export type SignatureLevel = 'B' | 'T' | 'LT' | 'LTA';

/** `rsa-pss`: an RSA key whose certificate permits PSS alone (RFC 4055 §1.2). */
export type KeyType = 'rsa' | 'rsa-pss' | 'ec' | 'ed25519';

/** Signature scheme: PKCS#1 v1.5 or PSS (RFC 8017), ECDSA, or Ed25519 (RFC 8032). */
export type SignatureScheme = 'rsa-pkcs1' | 'rsa-pss' | 'ecdsa' | 'ed25519';

/** Scheme and digest. */
export interface SignatureAlgorithm {
  readonly scheme: SignatureScheme;
  /** Digest of the content and of the signed bytes; Ed25519 hashes internally and uses it for the content only. */
  readonly digest: DigestName;
}

/**
 * Makes signature values with one private key, in memory or on a token.
 * PSS uses MGF1 with the same digest and a salt of the digest's length.
 */
export interface SigningKey {
  readonly type: KeyType;
  /** Bits of the RSA modulus, or of the curve's field (256 to 521; 255 for Ed25519). */
  readonly bits: number;
  /**
   * Signs `data`, which is hashed here.
   * ECDSA: DER of SEQUENCE { r, s }; all others: the raw value.
   * @throws {CryptoError} `key.unsupported` when scheme and key don't match, `key.unavailable` when a token doesn't
   * answer
   */
  sign(data: Uint8Array, algorithm: SignatureAlgorithm): Buffer;
}

/** A signer without its private key, as two-step signing with an external key needs it. */
export interface SignerIdentity {
  /** DER of the signer's certificate. */
  readonly certificate: Buffer;
  /** DER of the certificates between signer and root, nearest first; the root is left out. */
  readonly chain: readonly Buffer[];
  readonly keyType: KeyType;
  /** As `SigningKey.bits`. */
  readonly keyBits: number;
  /** Lower-case hex SHA-256 of `certificate`. */
  readonly fingerprint: string;
}

/**
 * A private key with the certificate that belongs to it, loaded and checked once.
 * The engine never decrypts, parses or checks a key per signature.
 */
export interface Signer extends SignerIdentity {
  readonly key: SigningKey;
}

/** Bytes for a key to sign. Source: RFC 5652 §5.4; XML Signature 1.1 §3.1.2. */
export interface ToBeSigned {
  /** Bytes that the key signs, hashed with `algorithm.digest` (Ed25519: the whole bytes). */
  readonly toBeSigned: Buffer;
  /** Digest of `toBeSigned` with `algorithm.digest`, for keys that take a hash. */
  readonly hash: Buffer;
  readonly algorithm: SignatureAlgorithm;
}

/**
 * A signer whose private key is elsewhere: a key service, a token behind a network, a browser.
 * Source: RFC 8017 §8, RFC 3279 §2.2.3, RFC 8032.
 */
export interface RemoteSigner extends SignerIdentity {
  /**
   * Resolves with the signature value: of ECDSA in DER or as r and s concatenated, of PSS with a salt of the digest's
   * length. It is checked with the certificate; a wrong one leaves no output. An error that it throws is passed on.
   */
  sign(data: ToBeSigned): Promise<Uint8Array>;
}

/** An explicit signature policy; the signature is then an EPES (EN 319 122-1 §5.2.9). */
export interface SignaturePolicy {
  /** Dotted. */
  readonly oid: string;
  readonly digest: DigestName;
  /** Digest of the policy document, made with `digest`. */
  readonly hash: Buffer;
  /** Address of the policy document. */
  readonly uri?: string;
}

/** Signature parameters of every format. */
export interface SignatureParameters {
  /** Claimed signing time, milliseconds since the epoch. */
  readonly at: number;
  /** @default 'sha256'; 'sha512' for Ed25519, which takes no other (RFC 8419 §3.1) */
  readonly digest?: DigestName;
  /** Padding of RSA signatures; other keys have no choice. @default 'pkcs1' */
  readonly padding?: 'pkcs1' | 'pss';
  /** Includes the certificates between signer and root. @default true */
  readonly includeChain?: boolean;
  readonly policy?: SignaturePolicy;
  /**
   * What the signer says of itself, as on whose behalf it signs: 1 to 2,000 characters in one line. The certificate does
   * not prove it (EN 319 122-1 §5.2.6.1, EN 319 132-1 §5.2.6).
   */
  readonly claimedRole?: string;
}

/** Parameters of PDF signatures. Source: ISO 32000-2, 12.8.1; EN 319 142-1 §5.3. */
export interface PadesFormat {
  /** Name of the signer, for a certificate that is not personal (ISO 32000-2, table 255, Name). */
  readonly name?: string;
  readonly reason?: string;
  readonly location?: string;
  readonly contactInfo?: string;
  /** Uses an empty signature field of this name, or creates it. @default the next free `SignatureN` */
  readonly fieldName?: string;
  /** Makes a certification signature that permits: 1 nothing, 2 filling forms and signing, 3 annotations too. */
  readonly certification?: 1 | 2 | 3;
  /** Visible appearance; the signature is invisible without it. */
  readonly appearance?: SignatureAppearance;
  /** Written in the same update as the signature. */
  readonly content?: PageContent;
}

/** Points, or a part of the width or height of the page. */
type Extent = number | `${number}%`;

/**
 * A visible signature: a rectangle on one page with an image, lines of text, or both (image left, text right).
 * Coordinates are in the page as shown, with rotation: points from its lower left corner.
 * Source: ISO 32000-2, 12.5.5, 12.7.5.5.
 */
export interface SignatureAppearance {
  /** 1-based. Default: the page of the existing field that `PadesFormat.fieldName` names. */
  readonly page?: number;
  /**
   * Required for a new field. An existing visible field takes this rectangle only when it is on the field's own page
   * and the document has no signature yet; otherwise, and by default, the field keeps its place.
   */
  readonly rectangle?: {
    readonly left: number;
    readonly bottom: number;
    readonly width: number;
    readonly height: number;
  };
  /**
   * Replaces `page` and `rectangle` for positions chosen without the page: points from the upper
   * left corner of the page as shown. A rectangle that does not fit is moved and shrunk; a missing page is replaced
   * by the last one. Only for a new field.
   */
  readonly place?: {
    /** 1-based; null = the last. */
    readonly page: number | null;
    readonly left: Extent;
    readonly top: Extent;
    readonly width: Extent;
    readonly height: Extent;
  };
  /** 12 points, shrunk together until they fit; a character that the bundled font lacks is shown as a box. */
  readonly lines?: readonly string[];
  /**
   * PNG (with or without transparency, up to 32 MiB decoded) or JPEG, of up to 16 million pixels and 16 MiB; drawn
   * with its aspect ratio.
   */
  readonly image?: Buffer;
}

/** Parameters of CMS signatures. Source: RFC 5652 §5.1; EN 319 122-1 §5. */
export interface CadesFormat {
  /** Detached: the output excludes the content. @default false */
  readonly detached?: boolean;
  /** @default 'der' */
  readonly armor?: 'der' | 'pem';
  /**
   * Identifies the signature among others by the same key over the same content: content identifier of RFC 5035
   * §2.10.
   */
  readonly contentIdentifier?: string;
}

/** Parameters of XML signatures. Source: XML Signature 1.1 §2, §4; EN 319 132-1 §5. */
export interface XadesFormat {
  /**
   * `enveloped`: a child of the root, over the whole document. `element`: in or beside the element that `elementId`
   * or `elementPath` names, over that element. `enveloping`: the document (or any file) inside an Object of the
   * signature.
   * `detached`: beside the file, which `uri` names.
   * @default 'enveloped'
   */
  readonly packaging?: 'enveloped' | 'element' | 'enveloping' | 'detached';
  /**
   * `xmldsig`: a plain XML signature, without properties and without a prefix; in its document, at level B.
   * @default 'xades'
   */
  readonly form?: 'xades' | 'xmldsig';
  /** Of a plain signature: Exclusive XML Canonicalization, or Canonical XML 1.0. @default 'exclusive' */
  readonly canonicalization?: 'exclusive' | 'inclusive';
  /** Id of the signature; a number is appended when it is in use. @default derived from content, time and signer */
  readonly id?: string;
  readonly elementId?: string;
  /**
   * Replaces `elementId`: a location path that selects exactly one element, in the subset of XPath 1.0 of
   * `crypto/xades/elements/element-path.ts`; prefixes are bound by `elementNamespaces` or else by the root element,
   * and signatures are ignored. The reference uses the element's Id, or its position without one, which requires a
   * `coSignable` signature.
   */
  readonly elementPath?: string;
  /** Namespaces of the prefixes in `elementPath` and `place`. @default none */
  readonly elementNamespaces?: readonly { readonly prefix: string; readonly uri: string }[];
  /**
   * For `enveloped`: a location path, as `elementPath`, to the element that receives the signature; the whole document
   * is signed. @default the root
   */
  readonly place?: string;
  /**
   * Position of the signature: in the signed element, or beside it (never beside the root).
   * @default 'last-child' for the root, 'after' for other elements
   */
  readonly insertion?: 'first-child' | 'last-child' | 'before' | 'after';
  /** URI of the detached content. @default the file's name, percent-encoded */
  readonly uri?: string;
  /**
   * Excludes every signature in the document from the signed content, by an XPath filter, so that others can sign the
   * same content before and after. For `enveloped` and `element`. @default false
   */
  readonly coSignable?: boolean;
  /**
   * Adds references to all certificates and revocation values that validate the signer, in addition to the values
   * (EN 319 132-1 §A.1.1 and §A.1.2). Requires level LT or LTA. @default false
   */
  readonly completeReferences?: boolean;
  /** Media type of the content. @default by the file name's extension; application/xml for XML */
  readonly mimeType?: string;
}

/** A file to read: its path, opened without following a symbolic link, or its bytes, which must not change meanwhile. */
export type InputFile = string | Uint8Array;

/** Collects an output in memory. */
export class MemoryOutput {
  /** Empty until the operation has succeeded. */
  bytes: Buffer = Buffer.alloc(0);
}

/** A file to write: its path, which must not exist, or a place in memory. An output that fails is removed again. */
export type OutputFile = string | MemoryOutput;

/**
 * One file to sign; the engine reads, hashes, signs, writes and syncs it.
 * Source: EN 319 142-1, EN 319 122-1, EN 319 132-1, §6 each.
 */
export interface SignFileRequest<Input extends InputFile = string, Output extends OutputFile = string>
  extends SignatureParameters {
  readonly format: SignatureFormat;
  /** The content to sign. */
  readonly input: Input;
  /** The signed file. */
  readonly output: Output;
  readonly signer: Signer;
  /**
   * Waits until the signed bytes are on the disk. With false, the caller syncs, for many files at once.
   * @default true
   */
  readonly sync?: boolean;
  /** Password of an encrypted PDF: of a user with the permission to sign, or of the owner. */
  readonly password?: string;
  /** @default 'B'. `signFile` supports only B; the others need services (`signFileAtLevel`). */
  readonly level?: SignatureLevel;
  readonly pades?: PadesFormat;
  readonly cades?: CadesFormat;
  readonly xades?: XadesFormat;
}

/** A file that gets one more signature; the others stay unchanged. `level`: that of the new one. */
export type ChangedFile = Pick<
  SignFileRequest<InputFile, OutputFile>,
  keyof SignatureParameters | 'input' | 'output' | 'sync' | 'level'
>;

/** As `SignFileRequest`, with a key that may be elsewhere. */
export interface SignAtLevelRequest<Input extends InputFile = string, Output extends OutputFile = string>
  extends Omit<SignFileRequest<Input, Output>, 'signer'> {
  readonly signer: Signer | RemoteSigner;
}

/** One file to raise to a higher level, or to renew its archive time-stamp (`to: 'LTA'` when there is one). */
export interface AugmentFileRequest<Input extends InputFile = string, Output extends OutputFile = string> {
  readonly format: SignatureFormat;
  /** The signed file; of a detached CAdES or XAdES signature, the signature. */
  readonly input: Input;
  readonly output: Output;
  /** The content of a detached signature. */
  readonly content?: Input;
  readonly to: Exclude<SignatureLevel, 'B'>;
  /** Now, milliseconds since the epoch. */
  readonly at: number;
  /** As in `SignFileRequest`. */
  readonly password?: string;
  /** As in `SignFileRequest`. */
  readonly sync?: boolean;
}

/** First of two steps with an external key: returns the bytes to sign. */
export type BeginSigningRequest<Input extends InputFile = string> = Omit<
  SignFileRequest<Input, OutputFile>,
  'signer' | 'output' | 'sync'
> & {
  readonly signer: SignerIdentity;
};

export interface BegunSigning extends ToBeSigned, Pick<SignedFile, 'warnings'> {
  /** State for the second step, as text; the caller stores it unchanged. Contains no secret. */
  readonly state: string;
}

/** Second of two steps. */
export interface FinishSigningRequest<Input extends InputFile = string, Output extends OutputFile = string> {
  /** The same bytes as in the first step. */
  readonly input: Input;
  readonly output: Output;
  /** Password of an encrypted PDF, as in the first step. */
  readonly password?: string;
  readonly state: string;
  /**
   * ECDSA values in DER or as r and s concatenated. Checked with the signer's certificate before anything is written.
   */
  readonly value: Buffer;
  readonly sync?: boolean;
}

/** Length, times and digest of one file, from the pass that read it. */
export interface Fingerprint {
  /** Lower-case hex. */
  readonly sha256: string;
  /** Bytes. */
  readonly length: number;
  /** Modification time in milliseconds, with its fraction, as the file system gives it. */
  readonly mtimeMs: number;
  /** Inode and device as decimal text (they exceed 2^53 on some file systems). */
  readonly inode: string;
}

/**
 * Content of a PDF that its signers may not see: a hidden field with a look, a field that shows something else than its
 * value, a script, a form that is described twice (XFA), a layer that is not always seen, a page that draws from another file, usage rights that a signature ends, pages and cross-references that programs mend in ways of their own; or too much to look for them in all of it. `pdf.no-glyph`: letters of the signature's own texts that no
 * font has. Each code stays as it is.
 */
export type SigningWarningCode =
  | 'pdf.hidden-look'
  | 'pdf.look-differs'
  | 'pdf.script'
  | 'pdf.xfa'
  | 'pdf.layer'
  | 'pdf.elsewhere'
  | 'pdf.usage-rights'
  | 'pdf.pages'
  | 'pdf.repair'
  | 'pdf.not-examined'
  | 'pdf.no-glyph';

/** A warning keeps nobody from signing. */
export interface SigningWarning {
  readonly code: SigningWarningCode;
  /** Name of the field, the place, or the letters. */
  readonly object: string;
  /** For people. */
  readonly message: string;
}

/** Digests and lengths of the files of one signature. */
export interface SignedFile {
  readonly input: Fingerprint;
  readonly output: { readonly sha256: string; readonly length: number };
  /** Of a PDF that gets a signature; at most five of each code. Absent: there are none, or the format has none. */
  readonly warnings?: readonly SigningWarning[];
}

export interface VerifyFileRequest<Input extends InputFile = string> {
  readonly format: SignatureFormat;
  /** The signed file. */
  readonly path: Input;
  /** As in `SignFileRequest`. */
  readonly password?: string;
  /** The content of a detached signature. */
  readonly contentPath?: Input;
  /** Lower-case hex SHA-256 of the certificate the newest signature must carry. */
  readonly signer?: string;
  /** Expected content: its digest and length when it was staged. */
  readonly content?: { readonly sha256: string; readonly length: number };
  /**
   * PDF: field of the signature that must be the only one, in a file that is intact and holds no validation material:
   * `validateFile` then finds no further fault but of trust.
   */
  readonly only?: string;
  /** True: signed with `XadesFormat.place`, so the signature may fill an element that was empty. @default false */
  readonly isPlaced?: boolean;
  /** True: the signature is a plain XML signature, which has no properties. @default false */
  readonly isPlain?: boolean;
  /** DER trust anchors. When present, a path from each checked signature must end in one of them. */
  readonly anchors?: readonly Buffer[];
  /** Time at which certificates must be valid, milliseconds since the epoch. */
  readonly at: number;
}

/** One named check and its result; `detail` gives the reason or the value. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Result for one file: good only when every check is. */
export interface VerificationReport {
  readonly ok: boolean;
  /** Signatures found in the file. */
  readonly signatures: number;
  readonly checks: readonly Check[];
}

/**
 * Error of signing or reading a file. `code` is stable; the message is for people.
 * Matched on `code`, since class identity is lost between threads.
 */
export class CryptoError extends Error {
  readonly code: CryptoErrorCode;
  /** @param options.cause error of the system where a file could not be read or written */
  constructor(code: CryptoErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CryptoError';
    this.code = code;
  }
}

export type CryptoErrorCode =
  | 'input.unreadable'
  | 'input.changed'
  | 'input.empty'
  | 'input.too-large'
  | 'pdf.malformed'
  | 'pdf.encrypted'
  | 'pdf.no-pages'
  | 'pdf.change-forbidden'
  /** An XFA form whose pages only its own layout engine makes. */
  | 'pdf.xfa-only'
  | 'xml.malformed'
  | 'xml.dtd'
  | 'xml.encoding'
  | 'xml.too-deep'
  | 'xml.existing-signature'
  | 'cms.malformed'
  /** Not a ZIP file, or not a container of signatures. */
  | 'asic.malformed'
  /** A container that could harm or deceive its reader: links, hidden bytes, two members of one name, and similar. */
  | 'asic.unsafe'
  /** An optional font package is not installed. The message names it. */
  | 'font.missing'
  | 'output.exists'
  | 'output.unwritable'
  | 'key.unreadable'
  | 'key.password'
  | 'key.mismatch'
  | 'key.unsupported'
  | 'key.ambiguous'
  | 'key.not-found'
  /** A token or its module does not answer. */
  | 'key.unavailable'
  /**
   * The request names something that does not exist, or contradicts itself: a page number, an element's Id, a field's
   * name.
   */
  | 'request.invalid'
  /** A signature value of an external key does not match the bytes to be signed. */
  | 'signature.mismatch'
  /** A time-stamp authority, OCSP responder or CRL server can't be reached, or its answer is not usable. */
  | 'authority.unreachable'
  | 'authority.refused'
  | 'timestamp.malformed'
  | 'revocation.missing'
  | 'certificate.expired'
  | 'certificate.not-yet-valid'
  | 'certificate.revoked'
  | 'certificate.malformed';

/** A rectangle on a page as shown: points from its upper left corner; moved and shrunk when it does not fit. */
export interface PagePlace {
  /** 1-based; null, and a missing page, = the last. */
  readonly page: number | null;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** An image and lines of text, as in a visible signature. */
interface Stamp {
  readonly place: PagePlace;
  readonly lines?: readonly string[];
  readonly image?: Buffer;
}

/** Content that an update adds beside its signature. */
export interface PageContent {
  /** Drawn only where the document has no signature yet: a later one would change what was signed. */
  readonly stamps: readonly Stamp[];
  readonly fields: readonly FormFieldContent[];
  /** Places that white rectangles cover, below stamps and fields; as stamps. @default none */
  readonly covers?: readonly PagePlace[];
}

/** A form field to create, to fill, or both. */
export interface FormFieldContent {
  /** Full name. A field of this name in the document is filled; otherwise it is created at the top level. */
  readonly name: string;
  readonly kind: 'text' | 'checkbox';
  /** Description for people. */
  readonly label: string;
  /** Null for a field that the document must have. */
  readonly place: PagePlace | null;
  /** Null = empty. Of a checkbox: `true` or `false`. Of a group of radio buttons: the name of a state. */
  readonly value: string | null;
}
