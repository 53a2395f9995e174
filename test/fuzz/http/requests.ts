/** Requests for every operation of an API description. */
import type { OpenApiDocument } from '../../../http/core/openapi/document.ts';
import { withPartsInPlace } from '../../../http/core/openapi/shared-parts.ts';
import { MAX_HEAD_BYTES } from '../../../http/core/transport/head-limit.ts';
import type { Random } from '../random.ts';
import { type KnownTexts, type Schema, STRANGE, textOf, Values } from './request-values.ts';

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly schema: Schema } } };
}

export interface FuzzRequest {
  /** Method and path of the operation. */
  readonly operation: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | FormData | undefined;
}

/** Frequency of invalid values: one in this number, at each position. */
const STRANGE_ONCE_IN = 40;
/** Header values are Latin-1 without line ends; `fetch` refuses others. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/g;

export class RequestMaker {
  readonly #random: Random;
  readonly #known: KnownTexts;
  readonly #values: Values;
  readonly #operations: readonly (readonly [
    name: string,
    method: string,
    path: string,
    operation: Operation,
  ])[];

  constructor(document: OpenApiDocument, random: Random, known: KnownTexts) {
    this.#random = random;
    this.#known = known;
    this.#values = new Values(random, known, document.components['schemas'] as { [name: string]: Schema });
    this.#operations = Object.entries(withPartsInPlace(document).paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) =>
          [`${method.toUpperCase()} ${path}`, method.toUpperCase(), path, operation as Operation] as const,
      ),
    );
  }

  /** Names of all operations. */
  get operations(): readonly string[] {
    return this.#operations.map(([name]) => name);
  }

  make(): FuzzRequest {
    const random = this.#random;
    const [name, method, path, { parameters = [], requestBody }] = random.pick(this.#operations);
    const strange = random.once(3) ? 4 : STRANGE_ONCE_IN;
    const text = (schema: Schema) => textOf(this.#values.of(schema, strange)).slice(0, 3000);
    const filled = path.replace(/\{(\w+)\}/g, () => {
      if (random.once(60)) return random.pick(['%zz', '%00', '..%2f..', '%ff', "'"]);
      const value = random.once(strange)
        ? textOf(random.pick(STRANGE)).slice(0, 500)
        : this.#known.pick(random);
      return encodeURIComponent(wellFormed(value)) || 'x';
    });
    const query = new URLSearchParams();
    for (const { in: place, name: parameter, schema } of parameters) {
      if (place !== 'query' || !random.once(parameter === 'ticket' ? 2 : 3)) continue;
      query.append(parameter, parameter === 'ticket' ? this.#known.pick(random) : wellFormed(text(schema)));
      if (random.once(30)) query.append(parameter, 'again');
    }
    const headers: Record<string, string> = {};
    for (const { in: place, name: header, schema } of parameters) {
      if (place === 'header' && random.once(3))
        headers[header] = text(schema).replace(NOT_IN_HEADERS, '?').trim();
    }
    const asked = query.size === 0 ? filled : `${filled}?${query}`;
    // Larger heads are refused with 431 before an operation sees them; the client adds headers of its own.
    const isTooLarge = asked.length + JSON.stringify(headers).length > MAX_HEAD_BYTES - 2048;
    const target = isTooLarge ? filled : asked;
    return { operation: name, method, target, headers, ...this.#body(requestBody, headers, strange) };
  }

  #body(
    described: Operation['requestBody'],
    headers: Record<string, string>,
    strange: number,
  ): { readonly body: FuzzRequest['body'] } {
    const random = this.#random;
    if (described === undefined) return { body: undefined };
    const [type = '', { schema = {} } = {}] = random.pick(Object.entries(described.content));
    if (type === 'multipart/form-data') return { body: this.#form(schema, strange) };
    if (type === 'application/x-www-form-urlencoded') {
      headers['content-type'] = type;
      const fields = this.#values.of({ ...schema, type: 'object' }, strange) as Record<string, unknown>;
      return {
        body: new URLSearchParams(
          Object.entries(fields ?? {}).map(([name, value]) => [name, textOf(value)] as [string, string]),
        ).toString(),
      };
    }
    headers['content-type'] = random.once(60)
      ? random.pick(['text/plain', 'application/xml', 'a/b;;;='])
      : type;
    const json = JSON.stringify(this.#values.of(schema, strange)) ?? '';
    if (random.once(50)) return { body: json.slice(0, random.below(json.length)) };
    if (random.once(80)) return { body: random.bytes(random.below(300)) };
    if (random.once(200)) return { body: `${'['.repeat(5000)}${json}` };
    if (random.once(400)) return { body: json.padEnd(random.pick([70_000, 300_000, 4_300_000])) };
    return { body: json };
  }

  #form(schema: Schema, strange: number): FormData {
    const random = this.#random;
    const form = new FormData();
    for (const [name, inner] of Object.entries((schema['properties'] ?? {}) as { [name: string]: Schema })) {
      if (inner['contentMediaType'] === undefined) {
        if (random.once(3)) form.append(name, textOf(this.#values.of(inner, strange)));
      } else if (!random.once(20)) {
        const bytes = random.pick([
          Buffer.from('%PDF-1.7 fuzz'),
          Buffer.from('<a/>'),
          random.bytes(random.below(2000)),
        ]);
        const file = textOf(
          random.once(strange) ? random.pick(STRANGE) : random.pick(['a.pdf', 'b.xml', 'c.bin']),
        );
        form.append(name, new File([new Uint8Array(bytes)], file.slice(0, 300)));
      }
    }
    return form;
  }
}

/** Removes lone surrogates, which can't be sent. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '?');
}
