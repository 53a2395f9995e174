/** Types of stored JSON. */
import type { Json } from './ports.ts';

/** Converts values of one type to stored JSON and back. The same type writes and reads a value. */
export interface JsonType<Value> {
  /** Returns the value itself; members that are undefined are not stored. */
  write(value: Value): Json;
  /** Returns the value itself, which `write` of this or an earlier version has stored. */
  read(json: Json): Value;
}

/**
 * Declares the type of stored values next to what writes them: `const JOB_ROW = jsonType<JobRow>()`. Interfaces are not
 * assignable to `Json`, as they could have more members; here it is known that they are stored as they are.
 */
export function jsonType<Value extends object>(): JsonType<Value> {
  return {
    write: (value: object) => value as Json,
    read: (json) => json as Value,
  };
}
