/**
 * Watches the references of signatures for the two usual ways to leave every signature out: by the XPath transform and by
 * the filter that subtracts them all. A signature made so is not broken by further ones.
 */
import { attributeNamed, type Names, type StartTag } from '../xml/index.ts';
import { DS } from './identifiers.ts';
import { EVERY_SIGNATURE, MAX_EXPRESSION_LENGTH, NOT_IN_A_SIGNATURE } from './left-out-signatures.ts';

export class ExcludedSignatures {
  readonly #bytes: Buffer;
  readonly #names: Names;
  /** Set while inside a ds:Reference. */
  #reference: { readonly uri: string | undefined; excludesSignatures: boolean } | undefined;
  /** Set while inside an XPath expression of a transform. */
  #expression: { text: string; readonly subtracts: boolean } | undefined;

  constructor(bytes: Buffer, names: Names) {
    this.#bytes = bytes;
    this.#names = names;
  }

  startReference(uri: string | undefined): void {
    this.#reference = { uri, excludesSignatures: false };
  }

  startXPath(): void {
    if (this.#reference !== undefined) this.#expression = { text: '', subtracts: false };
  }

  startFilter(tag: StartTag): void {
    if (this.#reference === undefined) return;
    const filter = attributeNamed(this.#bytes, tag, 'Filter');
    this.#expression = { text: '', subtracts: filter === 'subtract' };
  }

  text(start: number, end: number): void {
    const expression = this.#expression;
    if (expression === undefined || expression.text.length > MAX_EXPRESSION_LENGTH) return;
    expression.text += this.#bytes.toString('utf8', start, Math.min(end, start + MAX_EXPRESSION_LENGTH + 1));
  }

  character(code: number): void {
    const expression = this.#expression;
    if (expression === undefined || expression.text.length > MAX_EXPRESSION_LENGTH) return;
    expression.text += String.fromCodePoint(code);
  }

  /** To be called while the names of the XPath element still mean what they mean inside of it. */
  endExpression(): void {
    const expression = this.#expression;
    this.#expression = undefined;
    if (expression === undefined || expression.text.length > MAX_EXPRESSION_LENGTH) return;
    const shape = expression.subtracts ? EVERY_SIGNATURE : NOT_IN_A_SIGNATURE;
    const prefix = shape.exec(expression.text.trim())?.[1];
    if (prefix === undefined || this.#names.prefix(prefix)?.namespace?.uri !== DS) return;
    if (this.#reference !== undefined) this.#reference.excludesSignatures = true;
  }

  /** What the reference is over; undefined when it leaves all signatures out, or does not say. */
  endReference(): string | undefined {
    const reference = this.#reference;
    this.#reference = undefined;
    return reference?.excludesSignatures === true ? undefined : reference?.uri;
  }
}
