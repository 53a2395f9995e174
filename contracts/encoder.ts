/**
 * Encoders of replies and webhooks: functions compiled once per schema that copy its members, and no others, and write times
 * as text and absent values as null where the schema has no other place for them. They take as long as code by hand;
 * `z.encode`, which also checks each value, takes six times as long (decision 0192).
 */
import { z } from 'zod';

/** Returns the value as it goes on the wire. */
export type Encoder = (value: unknown) => unknown;

const compiled = new WeakMap<z.ZodType, Encoder>();

/** Compiles at the first use: of hundreds of replies a process sends few. */
export function encoderOf(schema: z.ZodType): Encoder {
  return (value) => {
    let encode = compiled.get(schema);
    if (encode === undefined) {
      encode = new EncoderScript().compile(schema);
      compiled.set(schema, encode);
    }
    return encode(value);
  };
}

class EncoderScript {
  readonly #functions: string[] = [];
  readonly #calls: Encoder[] = [];
  /** Name of the function of each object: an object may contain itself. */
  readonly #names = new Map<z.core.$ZodType, string>();

  compile(schema: z.core.$ZodType): Encoder {
    const result = this.#expression(schema, 'value');
    // Names of members are quoted; the schema states nothing else of the source.
    const source = [...this.#functions, `return (value) => ${result};`].join('\n');
    return new Function('calls', source)(this.#calls);
  }

  /** The encoded `value` as an expression; `value` itself where that goes on the wire as it is. */
  #expression(schema: z.core.$ZodType, value: string): string {
    if (schema instanceof z.ZodCodec) return this.#call(schema.def.reverseTransform as Encoder, value);
    if (schema instanceof z.ZodObject)
      return isLoose(schema) ? value : `${this.#objectFunction(schema)}(${value})`;
    if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
      const inner = this.#expression(schema.def.innerType, value);
      const none = schema instanceof z.ZodNullable ? 'null' : value;
      if (inner === value) return none === value ? value : `(${value} ?? null)`;
      return `(${value} == null ? ${none} : ${inner})`;
    }
    if (schema instanceof z.ZodLazy) return this.#expression(schema.def.getter(), value);
    if (schema instanceof z.ZodArray) {
      const item = this.#expression(schema.def.element, 'item');
      return item === 'item' ? value : `${value}.map((item) => ${item})`;
    }
    if (schema instanceof z.ZodRecord) return this.#call(recordEncoder(schema), value);
    if (schema instanceof z.ZodUnion) return this.#call(unionEncoder(schema), value);
    return value;
  }

  #objectFunction(schema: z.ZodObject): string {
    const known = this.#names.get(schema);
    if (known !== undefined) return known;
    const name = `object${this.#names.size}`;
    this.#names.set(schema, name);
    const members = Object.entries(schema.shape).map(([member, inner]) => {
      const quoted = JSON.stringify(member);
      return `${quoted}: ${this.#expression(inner, `given[${quoted}]`)}`;
    });
    this.#functions.push(`const ${name} = (given) => ({ ${members.join(', ')} });`);
    return name;
  }

  #call(encoder: Encoder, value: string): string {
    this.#calls.push(encoder);
    return `calls[${this.#calls.length - 1}](${value})`;
  }
}

function isLoose({ def }: z.ZodObject): boolean {
  return def.catchall !== undefined && !(def.catchall instanceof z.ZodNever);
}

function recordEncoder({ def }: z.ZodRecord): Encoder {
  const encode = encoderOf(def.valueType as z.ZodType);
  return (record) =>
    Object.fromEntries(Object.entries(record as object).map(([name, value]) => [name, encode(value)]));
}

/** Encodes by the first option that has all required members in the value. */
function unionEncoder({ def }: z.ZodUnion): Encoder {
  const options = def.options.map((option) => {
    const required =
      option instanceof z.ZodObject
        ? Object.entries(option.shape).flatMap(([name, inner]) => (inner.isOptional() ? [] : [name]))
        : [];
    return { required, isObject: option instanceof z.ZodObject, encode: encoderOf(option as z.ZodType) };
  });
  return (value) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const fitting = options.find(
      (option) => option.isObject === isObject && option.required.every((name) => name in Object(value)),
    );
    return fitting === undefined ? value : fitting.encode(value);
  };
}
