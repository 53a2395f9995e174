/** Types of the key tables, and the settings type derived from them. */
import { type Kind, presentIndexes } from './kinds.ts';
import type { Reading, ReadingContext, Resolved } from './reading.ts';

/** One configuration key, for the reader, the checks and the documentation. */
export interface Key<Value> {
  readonly kind: Kind<NonNullable<Value>>;
  readonly fallback: (context: ReadingContext) => Value;
  /** The default for the documentation. */
  readonly fallbackText: string;
  /** Unit of the value, e.g. `seconds`. */
  readonly unit: string;
  /** True: the key is required. */
  readonly required: boolean;
  /** One or two sentences for the documentation. */
  readonly says: string;
}

interface KeyTexts {
  readonly says: string;
  readonly unit?: string;
}

/** A key with a fixed default. */
export function key<Value>(kind: Kind<Value & {}>, fallback: Value & {}, words: KeyTexts): Key<Value & {}> {
  return computed(kind, defaultText(fallback), () => fallback, words);
}

/** An optional key. */
export function optional<Value>(kind: Kind<Value & {}>, words: KeyTexts): Key<(Value & {}) | undefined> {
  return {
    kind,
    fallback: () => undefined,
    fallbackText: 'none',
    unit: words.unit ?? '',
    required: false,
    says: words.says,
  };
}

/** A key whose default depends on the environment; `text` describes it. */
export function computed<Value>(
  kind: Kind<Value & {}>,
  text: string,
  fallback: (context: ReadingContext) => Value & {},
  words: KeyTexts,
): Key<Value & {}> {
  return { kind, fallback, fallbackText: text, unit: words.unit ?? '', required: false, says: words.says };
}

/** A required member of each list entry; `standIn` replaces it after a fault, so that reading continues. */
export function required<Value>(
  kind: Kind<Value & {}>,
  standIn: Value & {},
  words: KeyTexts,
): Key<Value & {}> {
  return { ...computed(kind, 'required', () => standIn, words), required: true };
}

// biome-ignore lint/suspicious/noExplicitAny: the value type of each key is recovered by `Shape`.
export type KeyTable = Readonly<Record<string, Key<any>>>;

/** Prefixes keys: `Pfx:Path` below `Certificate` is `Certificate:Pfx:Path`. */
export function below<const Prefix extends string, const Table extends KeyTable>(
  prefix: Prefix,
  table: Table,
): { readonly [Name in keyof Table & string as `${Prefix}:${Name}`]: Table[Name] } {
  const entries = Object.entries(table).map(([name, entry]) => [`${prefix}:${name}`, entry]);
  return Object.fromEntries(entries) as {
    [Name in keyof Table & string as `${Prefix}:${Name}`]: Table[Name];
  };
}

type Head<Name> = Name extends `${infer First}:${string}` ? First : Name;
type Members<Table, First extends string> = {
  [Name in keyof Table as Name extends `${First}:${infer Rest}` ? Rest : never]: Table[Name];
};

/** The settings a table gives: `Pipeline:MaxConcurrency` becomes `pipeline.maxConcurrency`. */
export type Shape<Table> = {
  readonly [First in Head<keyof Table> & string as Uncapitalize<First>]: First extends keyof Table
    ? Table[First] extends Key<infer Value>
      ? Value
      : never
    : Shape<Members<Table, First>>;
};

/** Reads every key of a table below `prefix`; faults and resolved values are recorded in the reading. */
export function readTable<const Table extends KeyTable>(
  table: Table,
  prefix: string,
  reading: Reading,
): Shape<Table> {
  const shape: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(table)) {
    const full = prefix + name;
    const faultsBefore = reading.faults.length;
    const configured = entry.kind.read(full, reading);
    if (configured === undefined && entry.required && reading.faults.length === faultsBefore) {
      reading.fault(full, 'is required');
    }
    const value: unknown = configured ?? entry.fallback(reading.context);
    if (value === undefined) reading.resolved.push({ key: full, value: null, origin: null });
    else if (configured === undefined) reading.resolved.push(...entry.kind.show(full, value));
    place(shape, name.split(':'), value);
  }
  return shape as Shape<Table>;
}

/** A list of entries with members of their own, e.g. `Storage:Inputs:0:Name`. */
export function records<const Table extends KeyTable>(members: Table): RecordsKind<Table> {
  return {
    type: 'list',
    rule: 'must be a list of entries',
    secret: false,
    members,
    read(name, reading) {
      return presentIndexes(name, reading)?.map((index) => readTable(members, `${name}:${index}:`, reading));
    },
    show(name, values) {
      if (values.length === 0) return [{ key: name, value: '[]', origin: null }];
      return values.flatMap((value, index) => showRecord(members, `${name}:${index}:`, value));
    },
  };
}

export interface RecordsKind<Table extends KeyTable> extends Kind<readonly Shape<Table>[]> {
  readonly members: Table;
}

function showRecord(table: KeyTable, prefix: string, record: object): Resolved[] {
  return Object.entries(table).flatMap(([name, entry]) => {
    const value: unknown = (record as Record<string, unknown>)[lowerFirst(name)];
    return value === undefined ? [] : [...entry.kind.show(prefix + name, value)];
  });
}

function place(shape: Record<string, unknown>, names: readonly string[], value: unknown): void {
  let at = shape;
  for (const name of names.slice(0, -1).map(lowerFirst)) {
    const inner = (at[name] ?? {}) as Record<string, unknown>;
    at[name] = inner;
    at = inner;
  }
  at[lowerFirst(names.at(-1) ?? '')] = value;
}

function lowerFirst(name: string): string {
  return name.slice(0, 1).toLowerCase() + name.slice(1);
}

function defaultText(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 0 ? 'empty' : value.map((entry) => `\`${entry}\``).join(' ');
  return value === '' ? 'empty' : `\`${String(value)}\``;
}
