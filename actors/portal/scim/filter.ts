/**
 * Filters: parsed by the attributes of a resource type, then matched with resources. What cannot be understood is
 * refused, so that a broken filter never finds everybody.
 *
 * Source: RFC 7644 §3.4.2.2; docs/decisions/0278-provisioning.md.
 */
import { invalid, type ScimRefusal } from './refusal.ts';
import { type Attribute, attributeOf, attributesOn, type ResourceType, type ScimObject } from './schemas.ts';

/** Longest filter, characters. */
const MAX_FILTER_LENGTH = 2_048;
/** Parentheses, brackets and negations one inside the other. */
const MAX_DEPTH = 10;

const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr'] as const;
type Operator = (typeof OPERATORS)[number];

interface Comparison {
  readonly op: Operator;
  /** From the resource, or from the value of a list, down to the attribute. */
  readonly path: readonly Attribute[];
  /** Null: no value. */
  readonly value: string | boolean | null;
}

export type Filter =
  | Comparison
  | { readonly op: 'and' | 'or'; readonly all: readonly Filter[] }
  | { readonly op: 'not'; readonly filter: Filter }
  /** True for a resource with a value in its list that fits. */
  | { readonly op: 'some'; readonly list: Attribute; readonly filter: Filter };

const TOKEN = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/y;

/** Path of a change: attributes, with a filter that chooses values of a list. Source: RFC 7644 §3.5.2. */
export interface Path {
  readonly attributes: readonly Attribute[];
  readonly filter?: Filter;
}

/** Refusals: `invalidFilter`. */
export function parseFilter(text: string, type: ResourceType): Filter {
  const reader = new Reader(text, 'invalidFilter');
  const filter = reader.either((path) => attributesOn(type, path));
  reader.end();
  return filter;
}

/** Undefined for an attribute that is not known. Refusals: `invalidPath`. */
export function parsePath(text: string, type: ResourceType): Path | undefined {
  const reader = new Reader(text, 'invalidPath');
  const attributes = attributesOn(type, reader.word());
  if (attributes === undefined) return undefined;
  const [list, ...more] = attributes;
  if (!reader.takes('[')) {
    reader.end();
    return { attributes };
  }
  if (list?.multi !== true || more.length > 0) throw reader.refusal('Only lists have values to choose from');
  const filter = reader.either((path) => within(list, path));
  reader.expect(']');
  const sub = reader.isAtEnd ? undefined : within(list, reader.word().replace(/^\./, ''));
  reader.end();
  return { attributes: [list, ...(sub ?? [])], filter };
}

function within(list: Attribute, path: string): readonly Attribute[] | undefined {
  const found = attributeOf(list.sub ?? [], path);
  return found && [found];
}

type Resolve = (path: string) => readonly Attribute[] | undefined;

class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(
    text: string,
    private readonly fault: 'invalidFilter' | 'invalidPath',
  ) {
    this.#text = text.trim();
    if (text.length > MAX_FILTER_LENGTH)
      throw this.refusal(`It has more than ${MAX_FILTER_LENGTH} characters`);
  }

  refusal(what: string): ScimRefusal {
    return invalid(this.fault, `${what}, at position ${this.#at}.`);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  end(): void {
    if (!this.isAtEnd) throw this.refusal('Something follows its end');
  }

  /** A disjunction. */
  either(resolve: Resolve): Filter {
    return this.#joined('or', () => this.#joined('and', () => this.#one(resolve)));
  }

  #joined(op: 'and' | 'or', next: () => Filter): Filter {
    const all = [next()];
    while (this.#peek().toLowerCase() === op) {
      this.#take();
      all.push(next());
    }
    return all.length === 1 && all[0] ? all[0] : { op, all };
  }

  #one(resolve: Resolve): Filter {
    if (this.#peek() === '(') return this.#inside('(', ')', resolve);
    const path = this.word();
    if (path.toLowerCase() === 'not' && this.#peek() === '(')
      return { op: 'not', filter: this.#inside('(', ')', resolve) };
    const attributes = resolve(path);
    if (attributes === undefined) throw this.refusal(`The attribute ${path.slice(0, 100)} is not known`);
    const [list] = attributes;
    if (this.#peek() === '[') {
      if (list?.multi !== true || attributes.length > 1)
        throw this.refusal('Only lists have values to choose from');
      const filter = this.#inside('[', ']', (name) => within(list, name));
      // One service writes `emails[type eq "work"].value eq "…"`.
      if (!this.#peek().startsWith('.')) return { op: 'some', list, filter };
      const sub = within(list, this.word().slice(1));
      if (sub === undefined) throw this.refusal('The attribute of the list is not known');
      return { op: 'some', list, filter: { op: 'and', all: [filter, this.#comparison(sub)] } };
    }
    return this.#comparison(attributes);
  }

  #inside(open: string, close: string, resolve: Resolve): Filter {
    this.expect(open);
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.refusal(`It is nested more than ${MAX_DEPTH} deep`);
    const filter = this.either(resolve);
    this.#depth -= 1;
    this.expect(close);
    return filter;
  }

  #comparison(given: readonly Attribute[]): Comparison {
    const word = this.word().toLowerCase();
    const op = OPERATORS.find((one) => one === word);
    if (op === undefined) throw this.refusal('It needs an operator such as eq');
    if (op === 'pr') return { op, path: given, value: null };
    const value = this.#value();
    // A list, or a complex attribute, is compared by its `value`.
    const last = given.at(-1);
    const own = last?.type === 'complex' ? attributeOf(last.sub ?? [], 'value') : undefined;
    const path = own === undefined ? given : [...given, own];
    const { type } = path.at(-1) ?? {};
    if (value === null) {
      if (op !== 'eq' && op !== 'ne') throw this.refusal('Null can only be equal or not');
      return { op, path, value };
    }
    if (type === 'boolean') {
      const flag = flagOf(value);
      if (flag === undefined || (op !== 'eq' && op !== 'ne'))
        throw this.refusal('A boolean is equal to true or false, or not');
      return { op, path, value: flag };
    }
    if (type === undefined || type === 'complex' || typeof value !== 'string')
      throw this.refusal('The value does not fit the attribute');
    if (type === 'dateTime' && !Number.isFinite(Date.parse(value)))
      throw this.refusal('The value is no time');
    return { op, path, value };
  }

  #value(): string | boolean | null {
    const token = this.#take();
    try {
      const value: unknown = JSON.parse(/^(?:true|false|null)$/i.test(token) ? token.toLowerCase() : token);
      if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    } catch {
      // Refused below.
    }
    throw this.refusal('It needs a value, such as "text", true or null');
  }

  /** A name or an operator. */
  word(): string {
    const token = this.#take();
    if (/^["()[\]]|^$/.test(token)) throw this.refusal('It needs the name of an attribute, or an operator');
    return token;
  }

  takes(token: string): boolean {
    const found = this.#peek() === token;
    if (found) this.#take();
    return found;
  }

  expect(token: string): void {
    if (!this.takes(token)) throw this.refusal(`It needs ${token}`);
  }

  #peek(): string {
    const at = this.#at;
    const token = this.#take();
    this.#at = at;
    return token;
  }

  /** Empty at the end. */
  #take(): string {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    if (match === null) {
      if (!this.isAtEnd) throw this.refusal('A quotation mark is missing');
      return '';
    }
    this.#at = TOKEN.lastIndex;
    return match[1] ?? match[2] ?? match[3] ?? '';
  }
}

/** Some services write booleans as text. */
export function flagOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

export function matches(filter: Filter, resource: ScimObject): boolean {
  switch (filter.op) {
    case 'and':
      return filter.all.every((one) => matches(one, resource));
    case 'or':
      return filter.all.some((one) => matches(one, resource));
    case 'not':
      return !matches(filter.filter, resource);
    case 'some':
      return valuesAt(resource, [filter.list]).some(
        (one) => typeof one === 'object' && matches(filter.filter, one as ScimObject),
      );
    case 'ne':
      return !matches({ ...filter, op: 'eq' }, resource);
    default: {
      const values = valuesAt(resource, filter.path);
      if (filter.op === 'pr') return values.some((one) => one !== '');
      if (filter.value === null) return values.length === 0;
      return values.some((one) => compares(filter, one));
    }
  }
}

/** Every value at the end of a path, those of lists one by one. */
function valuesAt(resource: ScimObject, path: readonly Attribute[]): readonly unknown[] {
  let values: readonly unknown[] = [resource];
  for (const { name } of path)
    values = values.flatMap((one) => {
      const found = (one as Partial<ScimObject>)[name];
      return found === undefined ? [] : found;
    });
  return values;
}

function compares({ op, path, value }: Comparison, given: unknown): boolean {
  if (typeof given !== 'string' || typeof value !== 'string') return given === value;
  const { exact = false, type } = path.at(-1) ?? {};
  if (type === 'dateTime') return ordered(op, Date.parse(given) - Date.parse(value));
  const [one, other] = exact ? [given, value] : [folded(given), folded(value)];
  if (op === 'co') return one.includes(other);
  if (op === 'sw') return one.startsWith(other);
  if (op === 'ew') return one.endsWith(other);
  return ordered(op, one < other ? -1 : one > other ? 1 : 0);
}

function ordered(op: Operator, difference: number): boolean {
  if (op === 'gt') return difference > 0;
  if (op === 'ge') return difference >= 0;
  if (op === 'lt') return difference < 0;
  if (op === 'le') return difference <= 0;
  return op === 'eq' && difference === 0;
}

export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** Values that every resource found must equal, by the path of the attribute: they lead to the resource. */
export function equalities(filter: Filter, prefix = ''): ReadonlyMap<string, string | boolean> {
  if (filter.op === 'and') return new Map(filter.all.flatMap((one) => [...equalities(one, prefix)]));
  if (filter.op === 'some') return equalities(filter.filter, `${filter.list.name}.`);
  if (filter.op !== 'eq' || filter.value === null) return new Map();
  return new Map([[`${prefix}${filter.path.map(({ name }) => name).join('.')}`, filter.value]]);
}
