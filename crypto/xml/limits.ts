/**
 * Limits of the reader. Each is far above documents in use and keeps time and memory for hostile ones proportional to
 * their length.
 */
import { CryptoError } from '../core/types.ts';

/** The document has something that is not read, or more of it than is read: it can be valid. */
export class UnreadXml extends CryptoError {}

/**
 * Nesting depth of elements. The XML library of most independent verifiers stops at 256 by default, so a deeper
 * document would get a signature that few can verify.
 */
export const MAX_DEPTH = 256;

/** Bytes from the start of a document within which its XML declaration must end. */
export const MAX_DECLARATION_LENGTH = 512;

/** Bytes of one element, attribute or target name. */
export const MAX_NAME_LENGTH = 4096;

/** Attributes and namespace declarations of one element. */
export const MAX_ATTRIBUTES = 4096;

/** Bytes of one attribute value as written: the limit of independent verifiers. */
export const MAX_VALUE_LENGTH = 10_000_000;

/** Distinct prefixes in one document; each takes a slot in every canonicalizer. */
export const MAX_PREFIXES = 65_536;

/** Prefixes that an InclusiveNamespaces PrefixList names. */
export const MAX_LISTED_PREFIXES = 1000;

/** Distinct names and namespaces in the cache; others are created at each occurrence. */
export const MAX_REMEMBERED = 4096;

/**
 * Bytes of one file. A UTF-16 or Latin-1 file is converted to UTF-8 through a string, whose length V8 limits to 2^29
 * - 24; half of that keeps the string, the UTF-8 bytes (up to 1.5 times the file) and the file itself within the
 * memory of one pool thread.
 */
export const MAX_DOCUMENT_LENGTH = 2 ** 28;

/**
 * Maximum ratio of canonical to original length. Exclusive canonicalization repeats a namespace on every tag that
 * uses it below one that does not; documents in use stay below 20.
 */
export const MAX_CANONICAL_GROWTH = 64;
