/**
 * Filters of nodes: the subset of the expressions of XPath transforms (XML Signature 1.1 §6.6.3) that keeps or leaves
 * out whole elements, so that it can be said what is signed.
 *
 * ```
 * filter = and { "or" and }
 * and    = one { "and" one }
 * one    = "not" "(" filter ")" | "(" filter ")" | paths | outside
 * paths  = path { "|" path }
 * path   = [ "//" ] "ancestor-or-self" "::" element
 * outside = "count(" path "|" "here()/ancestor::" name "[1]" ")" ">" "count(" path ")"
 * ```
 * An element is a name with predicates, see `ElementTest`. `outside` keeps what is outside of the nearest element of
 * that name around the expression (§6.6.4). Everything else is refused.
 */
import { CryptoError } from '../../core/types.ts';
import { type ElementTest, type NameTest, readElementTest } from './element-path.ts';

export type NodeFilter =
  /** The node is in an element, or is one. `anywhere`: the document has one; wherever the node is. */
  | { readonly kind: 'inside'; readonly element: ElementTest; readonly anywhere: boolean }
  /** The node is outside of the nearest element of that name around the expression. */
  | { readonly kind: 'outside'; readonly name: NameTest }
  | { readonly kind: 'not'; readonly of: NodeFilter }
  | { readonly kind: 'and'; readonly of: readonly NodeFilter[] }
  | { readonly kind: 'or'; readonly of: readonly NodeFilter[] };

/** Limits of one expression: groups inside each other, and elements with their tests. */
const MAX_GROUPS = 16;
const MAX_TESTS = 32;

type PrefixResolver = (prefix: string) => string;

/** Parses an expression. @throws {CryptoError} `request.invalid`: outside the subset; those of `resolve` */
export function readNodeFilter(text: string, resolve: PrefixResolver): NodeFilter {
  return new FilterReader(text, resolve).filter();
}

const NAME = /[^\s:()|/[\]*]+(?::[^\s:()|/[\]*]+)?/y;
const OPERATORS = { and: /and(?=[\s(/])/y, or: /or(?=[\s(/])/y };

/** Parts of `outside` after the first word; white space may stand between them. */
const SELF = [/\(/y, /ancestor-or-self/y, /::/y, NAME];
const AROUND = [/\|/y, /here/y, /\(/y, /\)/y, /\//y, /ancestor/y, /::/y, NAME, /\[/y, /1/y, /\]/y, /\)/y];
const OUTSIDE = [...SELF, ...AROUND, />/y, /count/y, ...SELF, /\)/y];

class FilterReader {
  readonly #text: string;
  readonly #resolve: PrefixResolver;
  #at = 0;
  #groups = 0;
  #tests = 0;

  constructor(text: string, resolve: PrefixResolver) {
    if (text.length > MAX_EXPRESSION_LENGTH) throw fault('is too long');
    this.#text = text;
    this.#resolve = resolve;
  }

  filter(): NodeFilter {
    const filter = this.#or();
    if (this.#at < this.#text.length) throw fault('has more than is evaluated');
    return filter;
  }

  #or(): NodeFilter {
    return this.#joined('or', () => this.#joined('and', () => this.#one()));
  }

  #joined(kind: 'and' | 'or', read: () => NodeFilter): NodeFilter {
    const first = read();
    const of = [first];
    while (this.#accept(OPERATORS[kind])) of.push(read());
    return of.length === 1 ? first : { kind, of };
  }

  #one(): NodeFilter {
    const isNot = this.#accept(/not\s*\(/y);
    if (isNot || this.#accept(/\(/y)) {
      if (++this.#groups > MAX_GROUPS) throw fault('has too many groups');
      const of = this.#or();
      if (!this.#accept(/\)/y)) throw fault('has a group that does not end');
      this.#groups--;
      return isNot ? { kind: 'not', of } : of;
    }
    return this.#accept(/count/y) ? this.#outside() : this.#paths();
  }

  #outside(): NodeFilter {
    const names: string[] = [];
    for (const part of OUTSIDE) {
      const start = this.#at;
      if (!this.#accept(part)) throw fault('counts something that is not evaluated');
      if (part === NAME) names.push(this.#text.slice(start, this.#at).trim());
    }
    const [name = '', ...others] = names;
    if (others.some((other) => other !== name)) throw fault('counts different elements');
    this.#count(1);
    return { kind: 'outside', name: readElementTest(name, 0, this.#resolve).test.name };
  }

  #paths(): NodeFilter {
    const first = this.#path();
    const of = [first];
    while (this.#accept(/\|/y)) of.push(this.#path());
    return of.length === 1 ? first : { kind: 'or', of };
  }

  #path(): NodeFilter {
    const anywhere = this.#accept(/\/\//y);
    if (!this.#accept(/ancestor-or-self\s*::/y)) throw fault('has something that is not evaluated');
    const { test, end } = readElementTest(this.#text, this.#at, this.#resolve);
    this.#count(1 + test.tests.length);
    this.#at = end;
    return { kind: 'inside', element: test, anywhere };
  }

  #count(tests: number): void {
    this.#tests += tests;
    if (this.#tests > MAX_TESTS) throw fault('tests too much');
  }

  /** Accepts a sticky pattern, with white space around it. */
  #accept(pattern: RegExp): boolean {
    const start = this.#at + (/^\s*/.exec(this.#text.slice(this.#at))?.[0].length ?? 0);
    pattern.lastIndex = start;
    const found = pattern.exec(this.#text);
    if (found === null) return false;
    this.#at = start + found[0].length;
    this.#at += /^\s*/.exec(this.#text.slice(this.#at))?.[0].length ?? 0;
    return true;
  }
}

function fault(what: string): CryptoError {
  return new CryptoError('request.invalid', `The XPath expression ${what}.`);
}

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
