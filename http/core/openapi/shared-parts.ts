/**
 * Parameters and answers that several operations have: named once, and in place again for readers of single operations.
 *
 * Source: OpenAPI 3.1.1 §4.8.7 ("Components Object").
 */
import { createHash } from 'node:crypto';

/** The members of an OpenAPI document that are read here. */
interface Described {
  readonly paths: Paths;
  readonly components: { readonly [kind: string]: { readonly [name: string]: object } };
}

type Paths = { readonly [path: string]: { readonly [method: string]: object } };

interface Operation {
  readonly parameters?: readonly Part[];
  readonly responses: { readonly [status: string]: Part };
}

interface Part {
  readonly $ref?: string;
  /** Of parameters. */
  readonly name?: string;
}

/** Names what stands twice; a name changes with what it stands for. */
export function withSharedParts<Document extends Described>(document: Document): Document {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const parameters = new Shared('parameters', operations.flatMap(parametersOf));
  const responses = new Shared('responses', operations.flatMap(answersOf));
  return {
    ...document,
    paths: withParts(document.paths, (part, kind) =>
      (kind === 'parameters' ? parameters : responses).replacing(part),
    ),
    components: {
      ...document.components,
      parameters: { ...document.components['parameters'], ...parameters.named },
      responses: { ...document.components['responses'], ...responses.named },
    },
  };
}

/** The document with the parameters and answers of each operation in place of references to them. */
export function withPartsInPlace<Document extends Described>(document: Document): Document {
  const paths = withParts(document.paths, (part, kind) =>
    part.$ref === undefined
      ? part
      : (document.components[kind]?.[part.$ref.slice(part.$ref.lastIndexOf('/') + 1)] ?? part),
  );
  return { ...document, paths };
}

type Kind = 'parameters' | 'responses';

class Shared {
  /** Names by JSON of the part. */
  readonly #names: ReadonlyMap<string, string>;
  readonly #kind: Kind;

  constructor(kind: Kind, parts: readonly Part[]) {
    this.#kind = kind;
    const uses = new Map<string, Part[]>();
    for (const part of parts.filter(({ $ref }) => $ref === undefined)) {
      const text = JSON.stringify(part);
      uses.set(text, [...(uses.get(text) ?? []), part]);
    }
    const repeated = [...uses].filter(([, { length }]) => length > 1);
    this.#names = new Map(repeated.map(([text, [part]]) => [text, nameFor(part?.name ?? 'answer', [text])]));
  }

  get named(): { readonly [name: string]: object } {
    return Object.fromEntries([...this.#names].map(([text, name]) => [name, JSON.parse(text) as object]));
  }

  replacing(part: Part): Part {
    const name = this.#names.get(JSON.stringify(part));
    return name === undefined ? part : { $ref: `#/components/${this.#kind}/${name}` };
  }
}

/** An identifier, because generators name types by it: words, and a digest so that the name changes with what it stands for. */
export function nameFor(words: string, parts: readonly string[]): string {
  const digest = createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, 8);
  return identifier([...words.split('-'), digest]);
}

/** `['if', 'range']` → `IfRange`. */
export function identifier(words: readonly string[]): string {
  return words.map((word) => `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`).join('');
}

function parametersOf(operation: object): readonly Part[] {
  return (operation as Operation).parameters ?? [];
}

function answersOf(operation: object): readonly Part[] {
  return Object.values((operation as Operation).responses);
}

function withParts(paths: Paths, replace: (part: Part, kind: Kind) => object): Paths {
  return mapped(paths, (methods) =>
    mapped(methods, (operation) => {
      const { parameters, responses } = operation as Operation;
      return {
        ...operation,
        ...(parameters && { parameters: parameters.map((part) => replace(part, 'parameters')) }),
        responses: mapped(responses, (part) => replace(part, 'responses')),
      };
    }),
  );
}

function mapped<Value, Made>(
  values: { readonly [name: string]: Value },
  make: (value: Value) => Made,
): { readonly [name: string]: Made } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, make(value)]));
}
