/**
 * Checks that JSON keeps a value: a store returns what JSON makes of it, so any other value would change when its
 * actor leaves the cache. Members that are undefined are allowed: JSON leaves them out, and they read the same.
 */
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

interface Problem {
  /** Path to the part, from inside to outside. */
  path: string;
  readonly what: string;
}

/** Deepest nesting of a value. A value that refers to itself has no end. */
const MAX_DEPTH = 500;

const NONE: readonly unknown[] = [];

/** Returns why JSON cannot keep a value, such as `context.when is a Date`; undefined when it can. */
export function jsonProblem(value: unknown, name: string): string | undefined {
  const problem = find(value, undefined, false, 0);
  return problem && `${name}${problem.path} ${problem.what}.`;
}

/**
 * Freezes a value with all its parts, so that nobody can change what is stored, and checks it like `jsonProblem`.
 * @param before an earlier value that was frozen here: its parts are skipped
 */
export function freezeJson(value: unknown, before: unknown, name: string): string | undefined {
  const problem = find(value, before, true, 0);
  return problem && `${name}${problem.path} ${problem.what}.`;
}

/** Returns the actor itself. Its readers receive the cached context: nobody can change what the next step stores. */
export function withFrozenContext<Actor extends { readonly context: unknown }>(actor: Actor): Actor {
  if (!Object.isFrozen(actor.context)) freezeJson(actor.context, undefined, 'context');
  return actor;
}

function find(value: unknown, before: unknown, freezes: boolean, depth: number): Problem | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : { path: '', what: `is ${value}` };
    case 'object':
      if (value === null || value === before) return undefined;
      break;
    case 'undefined':
      return { path: '', what: 'is undefined' };
    default:
      return { path: '', what: `is a ${typeof value}` };
  }
  if (depth === MAX_DEPTH) return { path: '', what: 'is nested too deeply, or refers to itself' };
  const problem = Array.isArray(value)
    ? findInArray(value, Array.isArray(before) ? before : NONE, freezes, depth)
    : findInObject(value, typeof before === 'object' ? before : null, freezes, depth);
  if (problem !== undefined) return problem;
  if (freezes) Object.freeze(value);
  return undefined;
}

function findInArray(
  value: readonly unknown[],
  before: readonly unknown[],
  freezes: boolean,
  depth: number,
): Problem | undefined {
  for (let at = 0; at < value.length; at++) {
    const problem = find(value[at], before[at], freezes, depth + 1);
    if (problem === undefined) continue;
    problem.path = `[${at}]${problem.path}`;
    return problem;
  }
  return undefined;
}

function findInObject(
  value: object,
  before: object | null,
  freezes: boolean,
  depth: number,
): Problem | undefined {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    return { path: '', what: describeClass(prototype) };
  for (const name in value) {
    const member = (value as { readonly [name: string]: unknown })[name];
    if (member === undefined) continue;
    const old = before === null ? undefined : (before as { readonly [name: string]: unknown })[name];
    const problem = find(member, old, freezes, depth + 1);
    if (problem === undefined) continue;
    problem.path = `.${name}${problem.path}`;
    return problem;
  }
  return undefined;
}

function describeClass(prototype: { readonly constructor?: { readonly name?: string } }): string {
  return `is a ${prototype.constructor?.name || 'class instance'}`;
}
