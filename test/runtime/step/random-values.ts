/** Random values of types that sources declare, so that machines get messages which they can read. */
import type { Roll } from '../crash/random-chart.ts';

const TEXTS = ['', 'a1', 'u1', 's1', 'r1', 'a@b.example', 'Signer'];
const NUMBERS = [0, 1, 2, 5, 1_000, 9_000_000];
/** Objects below it are empty, and lists too. */
const DEPTH = 7;

/** Splits a text at separators outside of brackets. */
function split(text: string, separator: string): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if ('{([<'.includes(char)) depth += 1;
    if ('})]'.includes(char) || (char === '>' && text[at - 1] !== '=')) depth -= 1;
    if (depth === 0 && text.startsWith(separator, at)) {
      parts.push('');
      at += separator.length - 1;
    } else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object';
}

export class RandomValues {
  /** Declared types by name. */
  readonly #types = new Map<string, string>();
  readonly #roll: Roll;

  constructor(sources: readonly string[], roll: Roll) {
    this.#roll = roll;
    for (const source of sources) this.#read(source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''));
  }

  #read(source: string): void {
    for (const [, name = '', base, body = ''] of source.matchAll(
      /^(?:export )?interface (\w+)[^{]*?(?:extends ([^{]+))?(\{[\s\S]*?^\})/gm,
    ))
      this.#declare(name, base === undefined ? body : `${split(base, ',').join(' & ')} & ${body}`);
    for (const [, name = '', type = ''] of source.matchAll(
      /^(?:export )?type (\w+)[^=]*=([\s\S]*?);$(?=\n\n|\n[a-z/]|\n?$(?![\s\S]))/gm,
    ))
      this.#declare(name, type);
  }

  #declare(name: string, type: string): void {
    if (!this.#types.has(name)) this.#types.set(name, type.replace(/\s+/g, ' '));
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#roll(from.length)] as T;
  }

  /** Returns a value of the type that the text names. */
  of(type: string, depth = 0): unknown {
    const text = type.trim().replace(/^readonly /, '');
    const choices = split(text, '|');
    if (choices.length > 1) return this.of(this.#pick(choices), depth);
    const parts = split(text, '&');
    if (parts.length > 1) {
      // The other parts only tell ids from each other.
      if (parts[0] === 'string') return this.#pick(TEXTS);
      return Object.assign({}, ...parts.map((part) => this.of(part, depth)).filter(isObject));
    }
    if (text.startsWith('|')) return this.of(text.slice(1), depth);
    if (text.endsWith('[]')) {
      const length = depth < DEPTH ? this.#roll(3) : 0;
      return Array.from({ length }, () => this.of(text.slice(0, -2), depth + 1));
    }
    if (text.startsWith('(')) return this.of(text.slice(1, -1), depth);
    if (text.startsWith('{')) return this.#object(text.slice(1, -1), depth);
    if (text.startsWith("'")) return text.slice(1, -1);
    const [, outer = text, inner = ''] = /^(\w+)<(.*)>$/.exec(text) ?? [];
    if (/^(Omit|Pick|Partial|Readonly|NonNullable|Extract|Exclude|Required)$/.test(outer))
      return this.of(split(inner, ',')[0] ?? 'string', depth);
    return this.#named(outer, depth);
  }

  #object(members: string, depth: number): object {
    const made: { [name: string]: unknown } = {};
    for (const member of split(members, ';')) {
      const [, name, optional, type = ''] = /^(?:readonly )?(\w+)(\??): ?(.*)$/.exec(member) ?? [];
      if (name === undefined || (optional !== '' && (depth > DEPTH || this.#roll(2) === 0))) continue;
      made[name] = this.of(type, depth + 1);
    }
    return made;
  }

  #named(name: string, depth: number): unknown {
    const values: { readonly [name: string]: () => unknown } = {
      number: () => this.#pick(NUMBERS),
      boolean: () => this.#roll(2) === 0,
      true: () => true,
      false: () => false,
      null: () => null,
      undefined: () => undefined,
      unknown: () => ({}),
      object: () => ({}),
      Record: () => ({}),
    };
    const value = values[name];
    if (value !== undefined) return value();
    const declared = this.#types.get(name);
    return declared === undefined || depth > 2 * DEPTH ? this.#pick(TEXTS) : this.of(declared, depth);
  }
}
