/**
 * What a document may ask of the reader. Each bound is far beyond documents people sign, and keeps time and memory
 * for hostile ones in proportion to their length.
 */

/**
 * Elements inside each other. The XML library most independent verifiers are built on stops at 256 unless told
 * otherwise, so a deeper document would carry a signature that nobody can check.
 */
export const MAX_DEPTH = 256;

/** Bytes at the beginning of a document within which its XML declaration must end. */
export const MAX_DECLARATION_LENGTH = 512;

/** Bytes of one element, attribute or target name. */
export const MAX_NAME_LENGTH = 4096;

/** Attributes and namespace declarations of one element. */
export const MAX_ATTRIBUTES = 4096;

/** Bytes of one attribute value as written: where independent verifiers stop too. */
export const MAX_VALUE_LENGTH = 10_000_000;

/** Different prefixes in one document; each has a slot in every canonicalizer. */
export const MAX_PREFIXES = 65_536;

/** Different names and namespaces remembered; further ones are made anew each time they occur. */
export const MAX_REMEMBERED = 4096;

/**
 * Bytes of one file. A UTF-16 or Latin-1 file is turned into UTF-8 by way of a string, whose length V8 limits to
 * 2^29 - 24; half of that keeps the string, the UTF-8 bytes (up to 1.5 times the file) and the file itself within
 * what one pool thread may use.
 */
export const MAX_DOCUMENT_LENGTH = 2 ** 28;

/**
 * How many times longer than a document its canonical form may be. Exclusive canonicalization repeats a namespace on
 * every tag that uses it below one that does not; documents people sign stay below 20.
 */
export const MAX_CANONICAL_GROWTH = 64;
