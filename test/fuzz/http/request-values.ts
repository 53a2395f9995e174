/** Values for the schemas of an API description: valid and invalid ones. */
import type { Random } from '../random.ts';

export type Schema = { readonly [keyword: string]: unknown };

/** Ids, tickets and validation keys of earlier responses. */
export class KnownTexts {
  readonly #texts: string[] = [];
  static readonly #MOST = 400;

  /** Records ids, tickets and keys of a response. */
  learn(answer: string, random: Random): void {
    const pattern = /[0-9a-f]{8}-[0-9a-f-]{27}|(?<=ticket=)[\w-]{20,300}|\b[A-Z0-9]{20}\b/g;
    for (const [text] of answer.slice(0, 20_000).matchAll(pattern)) {
      if (this.#texts.length < KnownTexts.#MOST) this.#texts.push(text);
      else this.#texts[random.below(KnownTexts.#MOST)] = text;
    }
  }

  pick(random: Random): string {
    return this.#texts.length === 0 ? '00000000-0000-4000-8000-000000000000' : random.pick(this.#texts);
  }
}

/** Invalid values without names of existing hosts, since the service calls some of them as addresses. */
export const STRANGE: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  0.5,
  1e308,
  2 ** 53,
  -(2 ** 31),
  '',
  ' ',
  '\u0000',
  '\ud800',
  'x'.repeat(11_000),
  'é'.repeat(300),
  '../../etc/passwd',
  '<script>',
  '{{a}}',
  '2026-13-45T99:99:99Z',
  '9999-12-31',
  '-1',
  'NaN',
  '%00',
  '__proto__',
  'null',
  'CN=,',
  '*',
  [],
  {},
  [null],
  [[[[]]]],
  [{ id: 7 }],
  { toString: 1 },
  { a: { b: { c: {} } } },
  Array.from({ length: 1200 }, () => ({})),
  Array.from({ length: 300 }, (_, index) => index),
];
/** Formats a value for a path, a query or a form. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

const WORDS = [
  'Ann',
  'ann@example.com',
  '12345678909',
  'http://127.0.0.1:9/hook',
  'application/pdf',
  'a.pdf',
  'x',
];
const MOMENTS = ['2026-01-02', '2026-01-02T03:04:05Z', '2030-01-02T06:04:05+00:00'];

export class Values {
  readonly #random: Random;
  readonly #known: KnownTexts;
  readonly #schemas: { readonly [name: string]: Schema };

  constructor(random: Random, known: KnownTexts, schemas: { readonly [name: string]: Schema }) {
    this.#random = random;
    this.#known = known;
    this.#schemas = schemas;
  }

  /** Mostly a valid value; once in `strange` times, at every level, an invalid one. */
  of(schema: Schema, strange: number, depth = 0): unknown {
    const random = this.#random;
    if (random.once(strange)) return random.pick(STRANGE);
    const { $ref } = schema;
    if (typeof $ref === 'string')
      return this.of(this.#schemas[$ref.split('/').at(-1) ?? ''] ?? {}, strange, depth);
    const options = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined;
    if (options !== undefined) return this.of(random.pick(options), strange, depth);
    if (Array.isArray(schema['enum'])) return random.pick(schema['enum'] as unknown[]);
    if (schema['const'] !== undefined) return schema['const'];
    const type = random.pick([schema['type']].flat());
    switch (type) {
      case 'object':
        return this.#object(schema, strange, depth);
      case 'array': {
        if (depth > 6) return [];
        const most = Math.min(3, (schema['maxItems'] as number | undefined) ?? 3);
        const length = Math.max((schema['minItems'] as number | undefined) ?? 0, random.below(most + 1));
        return Array.from({ length }, () => this.of((schema['items'] ?? {}) as Schema, strange, depth + 1));
      }
      case 'string':
        return this.#text(schema);
      case 'integer':
        return random.pick([0, 1, 2, 3, 10, 100]);
      case 'number':
        return random.pick([0, 1, 10.5, 100, 595]);
      case 'boolean':
        return random.once(2);
      case 'null':
        return null;
      default:
        return random.pick(STRANGE);
    }
  }

  #object(schema: Schema, strange: number, depth: number): object {
    const random = this.#random;
    const properties = Object.entries((schema['properties'] ?? {}) as { readonly [name: string]: Schema });
    const required = new Set((schema['required'] ?? []) as readonly string[]);
    const made: [string, unknown][] = [];
    for (const [name, inner] of properties) {
      const isWanted = required.has(name) ? !random.once(strange * 2) : random.once(depth > 3 ? 8 : 3);
      if (isWanted) made.push([name, this.of(inner, strange, depth + 1)]);
    }
    if (random.once(strange)) made.push([textOf(random.pick(STRANGE)).slice(0, 200), random.pick(STRANGE)]);
    return Object.fromEntries(made);
  }

  #text(schema: Schema): string {
    const random = this.#random;
    if (schema['format'] === 'uuid') return this.#known.pick(random);
    if (schema['contentEncoding'] === 'base64') return random.bytes(random.below(400)).toString('base64');
    if (String(schema['description']).startsWith('ISO 8601')) return random.pick(MOMENTS);
    if (random.once(3)) return this.#known.pick(random);
    return random.pick(WORDS);
  }
}
