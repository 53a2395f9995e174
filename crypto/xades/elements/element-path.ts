/**
 * Location paths that name an element: the subset of XPath 1.0 that can be evaluated while a document is read, in
 * time proportional to its length for every path.
 *
 * ```
 * path       = [ "/" | "//" ] step { ( "/" | "//" ) step }
 * step       = ( "*" | name | prefix ":" name | prefix ":*" ) { "[" predicate "]" }
 * predicate  = number | "position()" "=" number | test { "and" test }
 * test       = "@" name [ "=" literal ] | ( "local-name()" | "namespace-uri()" ) "=" literal
 * ```
 * All other axes, functions and operators are refused. A path without a leading "/" starts at the document as well.
 */
import { CryptoError } from '../../core/types.ts';

/** One step: name test and predicates. */
interface PathStep {
  /** True after `//`: any number of elements may come between. */
  readonly deep: boolean;
  readonly name: NameTest;
  /** Evaluated in order; a position counts the elements that matched the predicates before it. */
  readonly predicates: readonly PathPredicate[];
}

/** Tests a name; undefined matches any. The namespace '' means none. */
export interface NameTest {
  readonly namespace: string | undefined;
  readonly local: string | undefined;
}

export type PathPredicate =
  /** Position from 1, among the children of one parent. */
  { readonly position: number } | { readonly tests: readonly PathTest[] };

export type PathTest =
  | { readonly of: 'local-name' | 'namespace-uri'; readonly value: string }
  /** Undefined value: tests that the attribute exists. */
  | { readonly of: 'attribute'; readonly name: NameTest; readonly value: Buffer | undefined };

/** A child that has exactly this text. */
export interface ChildTest {
  readonly of: 'child';
  readonly name: NameTest;
  readonly value: string;
}

/** Test of one element: `name [ test { and test } ]`, where a test can be of a child too: `child = literal`. */
export interface ElementTest {
  readonly name: NameTest;
  readonly tests: readonly (PathTest | ChildTest)[];
}

/** A path with resolved prefixes. */
export type ElementPath = readonly PathStep[];

/** Resolves a prefix to its namespace, or throws. */
type PrefixResolver = (prefix: string) => string;

/** Length limit of a path, in characters. */
const MAX_PATH_LENGTH = 4000;
/** Limit of steps: one bit each in the finder. */
const MAX_STEPS = 30;
/** Limit of predicates and tests in one path: positions of all steps, and some attributes. */
const MAX_TESTS = 100;
/** Limit of attribute tests: each one scans the attributes of every element. */
const MAX_ATTRIBUTE_TESTS = 32;
const MAX_POSITION = 1_000_000_000;

/** Parses a path. @throws {CryptoError} `request.invalid`: outside the subset or too long; those of `resolve` */
export function readElementPath(text: string, resolve: PrefixResolver): ElementPath {
  return new PathReader(text, resolve).path();
}

/**
 * Parses the test of one element within a longer expression.
 * @returns also the offset after the test
 * @throws {CryptoError} `request.invalid`: outside the subset; those of `resolve`
 */
export function readElementTest(
  text: string,
  at: number,
  resolve: PrefixResolver,
): { readonly test: ElementTest; readonly end: number } {
  return new PathReader(text, resolve).elementTest(at);
}

/** Checks the syntax of a path without resolving prefixes. @throws {CryptoError} `request.invalid` */
export function assertElementPath(text: string): void {
  readElementPath(text, (prefix) => prefix);
}

const NAME = /[\p{L}_][\p{L}\p{N}\p{M}_.·-]*/uy;
const NUMBER = /[0-9]{1,10}/y;
const LITERAL = /"([^"]*)"|'([^']*)'/y;
const SPACE = /[ \t\r\n]*/y;

class PathReader {
  readonly #text: string;
  readonly #resolve: PrefixResolver;
  #at = 0;
  #tests = 0;
  #attributeTests = 0;

  constructor(text: string, resolve: PrefixResolver) {
    if (text.length > MAX_PATH_LENGTH) {
      throw new CryptoError('request.invalid', `A location path has at most ${MAX_PATH_LENGTH} characters.`);
    }
    this.#text = text;
    this.#resolve = resolve;
  }

  path(): ElementPath {
    const steps: PathStep[] = [];
    let deep = this.#accept('//');
    if (!deep) this.#accept('/');
    for (;;) {
      steps.push(this.#step(deep));
      if (steps.length > MAX_STEPS) throw this.#fault(`more than ${MAX_STEPS} steps`);
      deep = this.#accept('//');
      if (deep || this.#accept('/')) continue;
      if (this.#at < this.#text.length) throw this.#fault('something that no path of elements holds');
      return steps;
    }
  }

  elementTest(at: number): { readonly test: ElementTest; readonly end: number } {
    this.#at = at;
    this.#space();
    const name = this.#elementName();
    const tests: (PathTest | ChildTest)[] = [];
    while (this.#accept('[')) {
      do tests.push(this.#childTest() ?? this.#test());
      while (this.#acceptWord('and'));
      if (!this.#accept(']')) throw this.#fault('something else than "]"');
    }
    return { test: { name, tests }, end: this.#at };
  }

  #elementName(): NameTest {
    return this.#accept('*') ? { namespace: undefined, local: undefined } : this.#name(true);
  }

  /** Reads the test of a child; undefined when another test stands here. */
  #childTest(): ChildTest | undefined {
    if (/^(?:@|(?:local-name|namespace-uri)\s*\()/.test(this.#text.slice(this.#at, this.#at + 30)))
      return undefined;
    this.#count();
    const name = this.#name(true);
    return { of: 'child', name, value: this.#compared(() => this.#literal()) };
  }

  #step(deep: boolean): PathStep {
    const name = this.#elementName();
    const predicates: PathPredicate[] = [];
    while (this.#accept('[')) {
      predicates.push(this.#predicate());
      if (!this.#accept(']')) throw this.#fault('something else than "]"');
    }
    return { deep, name, predicates };
  }

  #name(ofElement: boolean): NameTest {
    const first = this.#match(NAME)?.[0];
    if (first === undefined) throw this.#fault('no name of an element or attribute');
    // Neither white space nor a second colon may follow: that would be an axis.
    if (this.#text.startsWith('::', this.#at)) throw this.#fault('an axis');
    const next = this.#text[this.#at];
    if (next !== ':') {
      if (this.#peeks('(')) throw this.#fault('a function');
      return { namespace: '', local: first };
    }
    this.#at++;
    const namespace = this.#resolve(first);
    if (ofElement && this.#text[this.#at] === '*') {
      this.#at++;
      this.#space();
      return { namespace, local: undefined };
    }
    const local = this.#match(NAME)?.[0];
    if (local === undefined) throw this.#fault('no name after a prefix');
    if (this.#peeks('(')) throw this.#fault('a function');
    return { namespace, local };
  }

  #predicate(): PathPredicate {
    if (this.#acceptCall('position')) return { position: this.#compared(() => this.#number()) };
    if (/[0-9]/.test(this.#text[this.#at] ?? '')) return { position: this.#number() };
    const tests = [this.#test()];
    while (this.#acceptWord('and')) tests.push(this.#test());
    return { tests };
  }

  #test(): PathTest {
    this.#count();
    if (this.#accept('@')) {
      if (++this.#attributeTests > MAX_ATTRIBUTE_TESTS)
        throw this.#fault(`more than ${MAX_ATTRIBUTE_TESTS} tests of attributes`);
      const name = this.#name(false);
      if (!this.#peeks('=')) return { of: 'attribute', name, value: undefined };
      return { of: 'attribute', name, value: Buffer.from(this.#compared(() => this.#literal())) };
    }
    for (const of of ['local-name', 'namespace-uri'] as const) {
      if (this.#acceptCall(of)) return { of, value: this.#compared(() => this.#literal()) };
    }
    throw this.#fault('a predicate that is neither a position nor a test of an attribute or name');
  }

  #number(): number {
    this.#count();
    const number = Number(this.#match(NUMBER)?.[0]);
    if (!Number.isSafeInteger(number) || number < 1 || number > MAX_POSITION) {
      throw this.#fault('no position from 1');
    }
    this.#space();
    return number;
  }

  #literal(): string {
    const found = this.#match(LITERAL);
    if (found === null) throw this.#fault('no text in quotes');
    this.#space();
    return found[1] ?? found[2] ?? '';
  }

  #compared<T>(read: () => T): T {
    if (!this.#accept('=')) throw this.#fault('something else than "="');
    return read();
  }

  #count(): void {
    if (++this.#tests > MAX_TESTS) throw this.#fault(`more than ${MAX_TESTS} predicates`);
  }

  #acceptCall(name: string): boolean {
    const start = this.#at;
    if (this.#accept(name) && this.#accept('(') && this.#accept(')')) return true;
    this.#at = start;
    return false;
  }

  #acceptWord(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    if (!/[ \t\r\n@]/.test(this.#text[this.#at + word.length] ?? '')) return false;
    return this.#accept(word);
  }

  #accept(text: string): boolean {
    this.#space();
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    this.#space();
    return true;
  }

  #peeks(text: string): boolean {
    this.#space();
    return this.#text.startsWith(text, this.#at);
  }

  #space(): void {
    this.#match(SPACE);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  #fault(what: string): CryptoError {
    return new CryptoError(
      'request.invalid',
      `The location path has ${what} at character ${this.#at + 1}, which is not taken here.`,
    );
  }
}

/** A step by name and position among equals: independent of prefixes and unaffected by signing. */
export interface NamedPosition {
  readonly namespace: string;
  readonly local: string;
  /** From 1. */
  readonly position: number;
}

/**
 * Formats the path for any XPath processor, without prefixes.
 * @throws {CryptoError} `request.invalid` when the text exceeds the limits
 */
export function positionalPath(steps: readonly NamedPosition[]): string {
  const text = steps
    .map(
      ({ namespace, local, position }) =>
        `/*[local-name()=${quoted(local)} and namespace-uri()=${quoted(namespace)}][${position}]`,
    )
    .join('');
  if (steps.length <= MAX_STEPS && text.length <= MAX_PATH_LENGTH) return text;
  throw new CryptoError('request.invalid', 'The element has no Id, and stands too deep to be named without.');
}

function quoted(text: string): string {
  if (!text.includes("'")) return `'${text}'`;
  if (!text.includes('"')) return `"${text}"`;
  throw new CryptoError('request.invalid', 'A namespace name has quotes of both kinds.');
}
