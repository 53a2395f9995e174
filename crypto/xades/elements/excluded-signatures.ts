/**
 * Detects references that exclude every signature, by the XPath transform or by the filter that subtracts them all.
 * Further signatures do not break such a signature.
 */
import { attributeNamed, type Names, type StartTag } from '../../xml/index.ts';
import { EVERY_SIGNATURE, MAX_EXPRESSION_LENGTH, NOT_IN_SIGNATURE } from './counter-signature-exclusion.ts';
import { DS } from './identifiers.ts';

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

  /** Evaluates the expression; call it while the namespace bindings of the XPath element are in scope. */
  endExpression(): void {
    const expression = this.#expression;
    this.#expression = undefined;
    if (expression === undefined || expression.text.length > MAX_EXPRESSION_LENGTH) return;
    const shape = expression.subtracts ? EVERY_SIGNATURE : NOT_IN_SIGNATURE;
    const prefix = shape.exec(expression.text.trim())?.[1];
    if (prefix === undefined || this.#names.prefix(prefix)?.namespace?.uri !== DS) return;
    if (this.#reference !== undefined) this.#reference.excludesSignatures = true;
  }

  /** Returns the covered identifier; undefined when the reference excludes all signatures or has no URI. */
  endReference(): string | undefined {
    const reference = this.#reference;
    this.#reference = undefined;
    return reference?.excludesSignatures === true ? undefined : reference?.uri;
  }
}
