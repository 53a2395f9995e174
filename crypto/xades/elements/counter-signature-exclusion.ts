/**
 * Expressions by which references exclude signatures: the XPath transform `not(ancestor-or-self::ds:Signature)` (XML
 * Signature 1.1 §6.6.3) and the filters that subtract signatures (XPath Filter 2.0). Signing and validation share
 * them. In each, the first group is the prefix that must be bound to XML Signature.
 */

export const NOT_IN_SIGNATURE = /^not\s*\(\s*ancestor-or-self\s*::\s*([^\s:()]+)\s*:\s*Signature\s*\)$/;
export const EVERY_SIGNATURE = /^\/(?:\/|descendant(?:-or-self)?\s*::\s*)([^\s:()/]+)\s*:\s*Signature$/;
export const OWN_SIGNATURE = /^here\(\)\s*\/\s*ancestor\s*::\s*([^\s:()/]+)\s*:\s*Signature\s*\[\s*1\s*\]$/;

/** Longer expressions never match. */
export const MAX_EXPRESSION_LENGTH = 1000;
