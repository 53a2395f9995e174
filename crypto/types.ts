/**
 * What the signature engine takes and gives.
 *
 * Everything here is plain data or a small port; nothing knows of jobs, folders or HTTP.
 */
/** The three families of ETSI baseline signatures. */
export type SignatureFormat = 'Pades' | 'Cades' | 'Xades';

/** Digest used for the content and for the signature. */
export type DigestName = 'sha256' | 'sha384' | 'sha512';

/** How much a signature carries to stay checkable later (EN 319 142-1 §6.1 and its siblings). */
export type SignatureLevel = 'B' | 'T' | 'LT' | 'LTA';

export type KeyType = 'rsa' | 'ec' | 'ed25519';

/** How a value is made from a key: PKCS#1 v1.5 or PSS (RFC 8017), ECDSA, or Ed25519 (RFC 8032). */
export type SignatureScheme = 'rsa-pkcs1' | 'rsa-pss' | 'ecdsa' | 'ed25519';

/** Scheme and digest together, as one choice. */
export interface SignatureAlgorithm {
  readonly scheme: SignatureScheme;
  /** Digest of the content, and of what is signed; Ed25519 hashes by itself and takes it for the content alone. */
  readonly digest: DigestName;
}

/**
 * Makes signature values with one private key, wherever the key is: in memory or on a token.
 * PSS uses MGF1 with the same digest and a salt of the digest's length.
 */
export interface SigningKey {
  readonly type: KeyType;
  /** Bits of the RSA modulus, or of the curve's field (256, 384, 521; 255 for Ed25519). */
  readonly bits: number;
  /**
   * The value over `data`, which is hashed here.
   * ECDSA: DER of SEQUENCE { r, s }; all others: the bytes as they are.
   * @throws {CryptoError} `key.unsupported` when scheme and key don't fit, `key.unavailable` when a token doesn't answer
   */
  sign(data: Uint8Array, algorithm: SignatureAlgorithm): Buffer;
}

/** Who signs, without the means to: all that two-step signing knows of a key that is elsewhere. */
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

/** An explicit signature policy, which makes a signature an EPES one (EN 319 122-1 §5.2.9). */
export interface SignaturePolicy {
  /** Dotted. */
  readonly oid: string;
  readonly digest: DigestName;
  /** Digest of the policy document, made with `digest`. */
  readonly hash: Buffer;
  /** Where the policy document is to be found. */
  readonly uri?: string;
}

/** What every format is told about the signature to make. */
export interface SignatureParameters {
  /** Claimed signing time, milliseconds since the epoch. */
  readonly at: number;
  /** @default 'sha256'; 'sha512' for Ed25519, which takes no other (RFC 8419 §3.1) */
  readonly digest?: DigestName;
  /** Padding of RSA signatures; other keys have no choice. @default 'pkcs1' */
  readonly padding?: 'pkcs1' | 'pss';
  /** Certificates between signer and root go into the signature. @default true */
  readonly includeChain?: boolean;
  readonly policy?: SignaturePolicy;
}

/** What only PDF signatures have. */
export interface PadesForm {
  /** Who signs, for signatures whose certificate is not the person's (ISO 32000-2, table 255, Name). */
  readonly name?: string;
  readonly reason?: string;
  readonly location?: string;
  readonly contactInfo?: string;
  /** An empty signature field of this name is used; without one, it is made. @default the next free `SignatureN` */
  readonly fieldName?: string;
  /** Makes this a certification signature that allows: 1 nothing, 2 filling forms and signing, 3 annotations too. */
  readonly certification?: 1 | 2 | 3;
  /** What is drawn on the page; left out, the signature is invisible. */
  readonly appearance?: SignatureAppearance;
}

/**
 * A visible signature: a rectangle on one page with an image, lines of text, or both (image left, text right).
 * Coordinates are those of the page as it is shown, rotation applied: points from its lower left corner.
 */
export interface SignatureAppearance {
  /** 1-based. Left out, that of the existing field `PadesForm.fieldName` names. */
  readonly page?: number;
  /**
   * An existing field with an extent takes this one only when it lies on the field's own page and nobody has signed
   * yet; otherwise, and when it is left out, the field stays where it is. Everywhere else it is needed.
   */
  readonly rectangle?: {
    readonly left: number;
    readonly bottom: number;
    readonly width: number;
    readonly height: number;
  };
  /**
   * Instead of `page` and `rectangle`, for places that were chosen without a look at the page: points from the upper
   * left corner of the page as it is shown. What does not fit is moved and shrunk until it does; a page that is not
   * there is the last one. Only where a new field is made.
   */
  readonly place?: {
    /** 1-based; null = the last. */
    readonly page: number | null;
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
  };
  /** 12 points, shrunk together until they fit; a character the bundled font has not is shown as a box. */
  readonly lines?: readonly string[];
  /**
   * PNG (with or without transparency, up to 32 MiB unpacked) or JPEG, of up to 16 million pixels and 16 MiB; drawn with
   * its proportions kept.
   */
  readonly image?: Buffer;
}

/** What only CMS signatures have. */
export interface CadesForm {
  /** The content stays outside; the output is the signature alone. @default false */
  readonly detached?: boolean;
  /** @default 'der' */
  readonly armor?: 'der' | 'pem';
  /** Tells the signature from others by the same key over the same content: the content identifier of RFC 5035 §2.10. */
  readonly contentIdentifier?: string;
}

/** What only XML signatures have. */
export interface XadesForm {
  /**
   * `enveloped`: a child of the root, over the whole document. `element`: in or beside the element that `elementId` or
   * `elementPath` names, over it alone. `enveloping`: the document (or any file) inside an Object of the signature. `detached`: beside the file,
   * which is named by `uri`.
   * @default 'enveloped'
   */
  readonly packaging?: 'enveloped' | 'element' | 'enveloping' | 'detached';
  /** Id of the signature; one that is taken gets a number. @default one that follows from content, time and signer */
  readonly id?: string;
  readonly elementId?: string;
  /**
   * Instead of `elementId`: a location path that names exactly one element, in the subset of XPath 1.0 that
   * `crypto/xades/element-path.ts` describes; prefixes stand for what `elementNamespaces` or else the root element says,
   * and signatures do not count. The reference is by the element's Id; by its place where it has none, which takes a
   * signature that is `coSignable`.
   */
  readonly elementPath?: string;
  /** What prefixes of `elementPath` stand for. @default none */
  readonly elementNamespaces?: readonly { readonly prefix: string; readonly uri: string }[];
  /**
   * Where the signature stands: in the element that is signed, or beside it (never beside the root).
   * @default 'last-child' for the root, 'after' for other elements
   */
  readonly insertion?: 'first-child' | 'last-child' | 'before' | 'after';
  /** How a detached signature names the file. @default the file's name, percent-encoded */
  readonly uri?: string;
  /**
   * Leaves every signature in the document out of what is signed, by an XPath filter, so that others can sign the same
   * after this signature and before it. For `enveloped` and `element`. @default false
   */
  readonly coSignable?: boolean;
  /**
   * Puts references to all certificates and revocation values that validate the signer beside the values themselves
   * (EN 319 132-1 §A.1.1 and §A.1.2). Takes level LT or LTA. @default false
   */
  readonly completeReferences?: boolean;
  /** Media type of what is signed. @default by the file name's extension; application/xml for XML */
  readonly mimeType?: string;
}

/** One file to sign, named by paths; the engine reads, hashes, signs, writes and syncs it. */
export interface SignFileRequest extends SignatureParameters {
  readonly format: SignatureFormat;
  /** Path of the content to sign. Opened without following a symbolic link. */
  readonly input: string;
  /** Path of the signed file. Must not exist; removed again when signing fails. */
  readonly output: string;
  readonly signer: Signer;
  /**
   * Wait until the signed bytes are on the disk. False leaves that to the caller, who can let many files share
   * the wait. @default true
   */
  readonly sync?: boolean;
  /** @default 'B'. `signFile` knows only B; the others need authorities (`signFileAtLevel`). */
  readonly level?: SignatureLevel;
  readonly pades?: PadesForm;
  readonly cades?: CadesForm;
  readonly xades?: XadesForm;
}

/** One file to bring to a higher level, or whose archive time-stamp is to be renewed (`to: 'LTA'` when it is there). */
export interface AugmentFileRequest {
  readonly format: SignatureFormat;
  /** The signed file; for a detached CAdES or XAdES signature, the signature. */
  readonly input: string;
  readonly output: string;
  /** What a detached signature is over. */
  readonly content?: string;
  readonly to: Exclude<SignatureLevel, 'B'>;
  /** Now, milliseconds since the epoch. */
  readonly at: number;
  /** As in `SignFileRequest`. */
  readonly sync?: boolean;
}

/** First of two steps, for a key that is elsewhere: what it has to sign. */
export type BeginSigningRequest = Omit<SignFileRequest, 'signer' | 'output' | 'sync'> & {
  readonly signer: SignerIdentity;
};

export interface BegunSigning {
  /** What the key signs, hashing it with `algorithm.digest` (Ed25519 takes it whole). */
  readonly toBeSigned: Buffer;
  /** Digest of `toBeSigned` with `algorithm.digest`, for keys that take a hash. */
  readonly hash: Buffer;
  readonly algorithm: SignatureAlgorithm;
  /** Everything the second step needs besides the file; text to be stored as it is. Holds no secret. */
  readonly state: string;
}

/** Second of two steps. */
export interface FinishSigningRequest {
  /** The same bytes as in the first step. */
  readonly input: string;
  readonly output: string;
  readonly state: string;
  /** ECDSA values in DER or as r and s in a row. Checked with the signer's certificate before anything is written. */
  readonly value: Buffer;
  readonly sync?: boolean;
}

/** Lengths, times and digests of one file, taken in the pass that read it. */
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

/** What signing left on disk. */
export interface SignedFile {
  readonly input: Fingerprint;
  readonly output: { readonly sha256: string; readonly length: number };
}

export interface VerifyFileRequest {
  readonly format: SignatureFormat;
  /** Path of the signed file; read afresh from disk. */
  readonly path: string;
  /** Path of what a detached signature is over. */
  readonly contentPath?: string;
  /** Lower-case hex SHA-256 of the certificate the newest signature must carry. */
  readonly signer?: string;
  /** The content that was to be signed: its digest and length, as taken when it was staged. */
  readonly content?: { readonly sha256: string; readonly length: number };
  /** DER trust anchors. Present: a chain from each checked signature must end in one of them. */
  readonly anchors?: readonly Buffer[];
  /** Time at which certificates must be valid, milliseconds since the epoch. */
  readonly at: number;
}

/** One named check and its outcome; `detail` says why it failed or what was seen. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** The verdict on one file: good only when every check is. */
export interface VerificationReport {
  readonly ok: boolean;
  /** Signatures found in the file. */
  readonly signatures: number;
  readonly checks: readonly Check[];
}

/**
 * Why a file could not be signed or read. `code` is stable; the message is for people.
 * Matched on `code`, since class identity is lost between threads.
 */
export class CryptoError extends Error {
  readonly code: CryptoErrorCode;
  constructor(code: CryptoErrorCode, message: string) {
    super(message);
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
  /** An XFA form that has no pages but those its own layout engine makes. */
  | 'pdf.xfa-only'
  | 'xml.malformed'
  | 'xml.dtd'
  | 'xml.encoding'
  | 'xml.too-deep'
  | 'xml.existing-signature'
  | 'cms.malformed'
  /** No ZIP file, or no container of signatures. */
  | 'asic.malformed'
  /** A container that would harm or deceive its reader: links, hidden bytes, two members of one name, and the like. */
  | 'asic.unsafe'
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
  /** What is asked for does not exist or contradicts itself: a page number, an element's Id, a field's name. */
  | 'request.invalid'
  /** A signature value made elsewhere does not fit what was to be signed. */
  | 'signature.mismatch'
  /** A time-stamp authority, OCSP responder or CRL server can't be reached, or answers with something else. */
  | 'authority.unreachable'
  | 'authority.refused'
  | 'timestamp.malformed'
  | 'revocation.missing'
  | 'certificate.expired'
  | 'certificate.not-yet-valid'
  | 'certificate.revoked'
  | 'certificate.malformed';
