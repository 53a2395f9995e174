/**
 * What the signature engine takes and gives.
 *
 * Everything here is plain data or a node:crypto handle; nothing knows of jobs, folders or HTTP.
 */
import type { KeyObject } from 'node:crypto';

/** The three families of ETSI baseline signatures. */
export type SignatureFormat = 'Pades' | 'Cades' | 'Xades';

/** Digest used for the content and for the signature. */
export type DigestName = 'sha256' | 'sha384' | 'sha512';

/**
 * A private key with the certificate that belongs to it, loaded and checked once.
 * The engine never decrypts, parses or checks a key per signature.
 */
export interface Signer {
  readonly privateKey: KeyObject;
  /** DER of the signer's certificate. */
  readonly certificate: Buffer;
  /** DER of the certificates between signer and root, nearest first; the root is left out. */
  readonly chain: readonly Buffer[];
  readonly keyType: 'rsa' | 'ec';
  /** Lower-case hex SHA-256 of `certificate`. */
  readonly fingerprint: string;
}

/** One file to sign, named by paths; the engine reads, hashes, signs, writes and syncs it. */
export interface SignFileRequest {
  readonly format: SignatureFormat;
  /** Path of the content to sign. Opened without following a symbolic link. */
  readonly input: string;
  /** Path of the signed file. Must not exist; removed again when signing fails. */
  readonly output: string;
  readonly signer: Signer;
  /** Claimed signing time, milliseconds since the epoch. */
  readonly at: number;
  /** @default 'sha256' */
  readonly digest?: DigestName;
  /**
   * Wait until the signed bytes are on the disk. False leaves that to the caller, who can let many files share
   * the wait. @default true
   */
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
  | 'xml.malformed'
  | 'xml.dtd'
  | 'xml.encoding'
  | 'xml.too-deep'
  | 'xml.existing-signature'
  | 'cms.malformed'
  | 'output.exists'
  | 'output.unwritable'
  | 'key.unreadable'
  | 'key.password'
  | 'key.mismatch'
  | 'key.unsupported'
  | 'key.ambiguous'
  | 'key.not-found'
  | 'certificate.expired'
  | 'certificate.not-yet-valid'
  | 'certificate.malformed';
