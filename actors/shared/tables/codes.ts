/** Values of a column as numbers. */

/** Largest code of a column. */
const MAX_CODE = 0xffff;

/** Numbers texts in order of appearance. */
export class Codes {
  readonly #byText = new Map<string | null, number>();

  /** @throws RangeError beyond 65,536 texts */
  codeOf(text: string | null): number {
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const code = this.#byText.size;
    if (code > MAX_CODE) throw new RangeError(`A column has at most ${MAX_CODE + 1} different values.`);
    this.#byText.set(text, code);
    return code;
  }

  /** Marks the codes of the texts that match. */
  select(matches: (text: string | null) => boolean): Uint8Array {
    const chosen = new Uint8Array(MAX_CODE + 1);
    for (const [text, code] of this.#byText) if (matches(text)) chosen[code] = 1;
    return chosen;
  }
}
