/**
 * Reads the JSON of configuration files: RFC 8259 plus line and block comments and trailing commas.
 *
 * Written here because a fault must name its line and column and must never repeat the text around it: that text
 * may be a password.
 */

/** A value as the file gives it; objects keep their members in file order. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly members: readonly (readonly [name: string, value: JsonValue])[];
}

/** Where and why a text is not JSON. Lines and columns count from 1. */
export class JsonFault extends Error {
  readonly line: number;
  readonly column: number;
  constructor(reason: string, line: number, column: number) {
    super(`${reason} at line ${line}, column ${column}`);
    this.name = 'JsonFault';
    this.line = line;
    this.column = column;
  }
}

/** Configuration is a few levels deep; the bound keeps a hostile file from using up the stack. */
const DEEPEST = 64;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** @throws JsonFault */
export function readJson(text: string): JsonValue {
  // A byte order mark is what some editors put first; it says nothing.
  const reader = new JsonReader(text, text.charCodeAt(0) === 0xfeff ? 1 : 0);
  return reader.document();
}

class JsonReader {
  readonly #text: string;
  #at: number;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#at = start;
  }

  document(): JsonValue {
    const value = this.#value(0);
    this.#skip();
    if (this.#at < this.#text.length) this.#fail('More text after the end');
    return value;
  }

  #value(depth: number): JsonValue {
    if (depth > DEEPEST) this.#fail('Nested too deeply');
    this.#skip();
    const next = this.#text[this.#at];
    if (next === '{') return this.#object(depth);
    if (next === '[') return this.#array(depth);
    if (next === '"') return this.#string();
    const word = /[-+.\w]*/y;
    word.lastIndex = this.#at;
    const found = word.exec(this.#text)?.[0] ?? '';
    const value = scalar(found);
    if (value === undefined) this.#fail(next === undefined ? 'The text ends too early' : 'Not a value');
    this.#at += found.length;
    return value;
  }

  #object(depth: number): JsonObject {
    const members: [string, JsonValue][] = [];
    this.#at += 1;
    for (;;) {
      this.#skip();
      if (this.#taken('}')) return { members };
      if (this.#text[this.#at] !== '"') this.#fail('A member name in double quotes is expected');
      const name = this.#string();
      this.#skip();
      if (!this.#taken(':')) this.#fail('A colon is expected after the member name');
      members.push([name, this.#value(depth + 1)]);
      this.#skip();
      if (this.#taken(',')) continue;
      if (this.#taken('}')) return { members };
      this.#fail('A comma or a closing brace is expected');
    }
  }

  #array(depth: number): JsonValue[] {
    const entries: JsonValue[] = [];
    this.#at += 1;
    for (;;) {
      this.#skip();
      if (this.#taken(']')) return entries;
      entries.push(this.#value(depth + 1));
      this.#skip();
      if (this.#taken(',')) continue;
      if (this.#taken(']')) return entries;
      this.#fail('A comma or a closing bracket is expected');
    }
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    let value = '';
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined || char < ' ') {
        this.#at = start;
        this.#fail('A string is not closed on its line');
      }
      this.#at += 1;
      if (char === '"') return value;
      value += char === '\\' ? this.#escape() : char;
    }
  }

  #escape(): string {
    const char = this.#text[this.#at] ?? '';
    this.#at += 1;
    if (char !== 'u') return ESCAPES[char] ?? this.#fail('An unknown escape');
    const digits = this.#text.slice(this.#at, this.#at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.#fail('Four hexadecimal digits are expected');
    this.#at += 4;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #taken(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  /** Passes white space and comments. */
  #skip(): void {
    const gap = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;
    gap.lastIndex = this.#at;
    this.#at += gap.exec(this.#text)?.[0].length ?? 0;
    if (this.#text.startsWith('/*', this.#at)) this.#fail('A comment is not closed');
  }

  #fail(reason: string): never {
    const before = this.#text.slice(0, this.#at).split(/\r\n|\r|\n/);
    throw new JsonFault(reason, before.length, (before.at(-1)?.length ?? 0) + 1);
  }
}

function scalar(word: string): number | boolean | null | undefined {
  if (word === 'true') return true;
  if (word === 'false') return false;
  if (word === 'null') return null;
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(word) ? Number(word) : undefined;
}
