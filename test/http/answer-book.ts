/** Validates replies by the API description: status, headers and body. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { OpenApiDocument } from '../../http/core/openapi/document.ts';

/** A reply; `body` is undefined where it is not checked. */
export interface Answer {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | undefined;
}

interface Described {
  readonly headers?: { readonly [name: string]: unknown };
  readonly content?: { readonly [mediaType: string]: { readonly schema?: object } };
  readonly 'x-may-be-empty'?: true;
}

/** Replies to requests without a route, or before routing: their codes and the shape of the body. */
export interface WithoutRoute {
  /** Undefined for a body without a code. */
  readonly codes: { readonly [status: number]: readonly (string | undefined)[] };
  schema(status: number): string;
  /** True when a trailing slash is ignored. @default false */
  readonly trailingSlash?: boolean;
}

/** References of a description to its components, and their names at the validator, which takes each by itself. */
const COMPONENT = '"#/components/schemas/';
const NAMED = '"/schemas/';

export class AnswerBook {
  readonly #document: OpenApiDocument;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  /** Compiled schemas by what they are of. Few of hundreds are needed in one process, and only these are compiled. */
  readonly #checks = new Map<string, ValidateFunction>();
  readonly #added = new Set<string>();
  readonly #paths: readonly { readonly path: string; readonly pattern: RegExp }[];
  readonly #without: WithoutRoute;

  constructor(document: OpenApiDocument, without: WithoutRoute) {
    this.#document = document;
    this.#without = without;
    formats.default(this.#ajv);
    this.#paths = Object.keys(document.paths)
      .map((path) => ({
        path,
        pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
      }))
      // Fixed paths win over those with parameters.
      .sort((left, right) => Number(left.path.includes('{')) - Number(right.path.includes('{')));
  }

  /** Differences between a reply and its description; empty when it conforms. */
  findings(answer: Answer): readonly string[] {
    // SCIM has schema documents of its own, which its tests read.
    if (answer.path.startsWith('/scim/v2/')) return [];
    const method = answer.method === 'HEAD' ? 'get' : answer.method.toLowerCase();
    const asked = this.#without.trailingSlash === true ? answer.path.replace(/(.)\/$/, '$1') : answer.path;
    const fitting = this.#paths.filter(({ pattern }) => pattern.test(asked));
    const path = fitting.find((one) => this.#document.paths[one.path]?.[method] !== undefined)?.path;
    if (path === undefined) return this.#withoutRoute(answer);
    const place = ['paths', path, method, 'responses', String(answer.status)];
    const [at, response] = this.#resolve(place);
    if (response === undefined) return [`the status ${answer.status} is not described`];
    const missing = Object.entries(response.headers ?? {})
      .filter(([name, header]) => this.#isRequired(header) && answer.headers.get(name) === null)
      .map(([name]) => `the header ${name} is missing`);
    return [...missing, ...this.#body(answer, response, at)];
  }

  #withoutRoute(answer: Answer): readonly string[] {
    if (answer.status === 307) return [];
    const codes = this.#without.codes[answer.status];
    if (codes === undefined) return [`${answer.status} for a path and method that are not described`];
    if (answer.body === undefined || answer.body === '') return [];
    const body = JSON.parse(answer.body) as { code?: string };
    const name = this.#without.schema(answer.status);
    const found = this.#against(`schema ${name}`, this.#document.components['schemas']?.[name], body);
    return codes.includes(body.code) ? found : [...found, `the code ${body.code} at an unknown route`];
  }

  #body(answer: Answer, described: Described, at: readonly string[]): readonly string[] {
    const { content } = described;
    if (answer.method === 'HEAD') return [];
    const isEmpty = answer.headers.get('content-length') === '0';
    if (isEmpty && described['x-may-be-empty'] === true) return [];
    const type = (answer.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
    if (content === undefined) {
      return answer.body === undefined || answer.body === '' ? [] : ['a body where none is described'];
    }
    // Of files, any type goes where the description says so.
    const media = content[type] ?? content['*/*'];
    if (media === undefined) return [`the type ${JSON.stringify(type)} is not described`];
    if (media.schema === undefined || !/json$/.test(type) || answer.body === undefined) return [];
    return this.#against([...at, type].join(' '), media.schema, JSON.parse(answer.body));
  }

  #against(what: string, schema: object | undefined, value: unknown): readonly string[] {
    if (schema === undefined) throw new Error(`The description has no ${what}.`);
    const check = this.#checks.get(what) ?? this.#ajv.compile(this.#withNames(schema));
    this.#checks.set(what, check);
    if (check(value)) return [];
    return (check.errors ?? []).map((error) => `body${error.instancePath} ${error.message}`);
  }

  /** A copy that refers to components by their names; the validator then knows each of them. */
  #withNames(schema: object): object {
    const text = JSON.stringify(schema).replaceAll(COMPONENT, NAMED);
    for (const [, name = ''] of text.matchAll(/"\/schemas\/([^"/]+)"/g)) {
      if (this.#added.has(name)) continue;
      this.#added.add(name);
      const component = this.#document.components['schemas']?.[name];
      if (component === undefined) throw new Error(`The description has no schema ${name}.`);
      this.#ajv.addSchema(this.#withNames(component), `/schemas/${name}`);
    }
    return JSON.parse(text);
  }

  /** Resolves a response reference; returns it with its place. */
  #resolve(place: readonly string[]): readonly [readonly string[], Described | undefined] {
    let found: unknown = this.#document;
    for (const step of place) found = (found as { readonly [step: string]: unknown } | undefined)?.[step];
    const { $ref } = (found ?? {}) as { readonly $ref?: string };
    if ($ref !== undefined) return this.#resolve($ref.slice(2).split('/'));
    return [place, found as Described | undefined];
  }

  #isRequired(header: unknown): boolean {
    const { $ref = '' } = header as { readonly $ref?: string };
    const name = $ref.split('/').at(-1) ?? '';
    return (
      (this.#document.components['headers']?.[name] as { required?: boolean } | undefined)?.required === true
    );
  }
}
