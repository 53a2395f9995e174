/**
 * Reads resources as identity services send them, and carries out their changes.
 *
 * Beyond the standard, as two common services need it: operations in any case, booleans as text, a single value as a list
 * of one, `name.givenName` and URNs as members of a value, removal of members by value, and a replaced value that does not
 * exist yet.
 *
 * Source: RFC 7644 §§3.3, 3.5; docs/decisions/0278-provisioning.md.
 */
import { equalities, flagOf, folded, matches, type Path, parsePath } from './filter.ts';
import { invalid } from './refusal.ts';
import {
  type Attribute,
  attributesOn,
  type ResourceType,
  type ScimObject,
  type ScimValue,
} from './schemas.ts';

/** Longest text of an attribute, characters. */
const MAX_TEXT = 1_024;
/** Values of one list, except members of groups, which have a bound of their own. */
const MAX_VALUES = 50;
/** Also of attributes that one request names. */
const MAX_OPERATIONS = 500;

/** A whole resource; what is not known is left out. Refusals: `invalidValue`. */
export function readResource(type: ResourceType, given: object, maxMembers: number): ScimObject {
  let resource: ScimObject = {};
  let changes = 0;
  for (const [name, value] of Object.entries(given)) {
    const attributes = attributesOn(type, name);
    if (attributes === undefined || attributes[0]?.readOnly) continue;
    requireFew(++changes);
    resource = applied('add', { attributes }, value, resource);
  }
  return checked(type, resource, maxMembers);
}

/** The resource after the operations of a PATCH request. Refusals: `invalidSyntax`, `invalidPath`, `invalidValue`, `mutability`, `noTarget`. */
export function patched(
  type: ResourceType,
  before: ScimObject,
  request: object,
  maxMembers: number,
): ScimObject {
  const operations: unknown = memberOf(request, 'operations');
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MAX_OPERATIONS)
    throw invalid('invalidSyntax', `Operations must be a list of 1 to ${MAX_OPERATIONS}.`);
  let resource = before;
  let changes = 0;
  for (const operation of operations) {
    const given: unknown = memberOf(Object(operation), 'op');
    const op = typeof given === 'string' ? given.toLowerCase() : '';
    if (op !== 'add' && op !== 'replace' && op !== 'remove')
      throw invalid('invalidSyntax', 'The op must be add, replace or remove.');
    const path: unknown = memberOf(Object(operation), 'path') ?? '';
    const value: unknown = memberOf(Object(operation), 'value');
    if (typeof path !== 'string') throw invalid('invalidPath', 'The path must be a text.');
    if (path === '') {
      if (op === 'remove') throw invalid('noTarget', 'A removal needs a path.');
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw invalid('invalidValue', 'Without a path the value must be an object.');
      for (const [name, one] of Object.entries(value)) {
        const parsed = parsePath(name, type);
        // The id and the schemas of the resource come along.
        if (parsed === undefined || parsed.attributes[0]?.readOnly) continue;
        requireFew(++changes);
        resource = applied(op, parsed, one, resource);
      }
      continue;
    }
    const parsed = parsePath(path, type);
    if (parsed === undefined) throw invalid('invalidPath', `The path ${path.slice(0, 100)} is not known.`);
    if (parsed.attributes[0]?.readOnly)
      throw invalid('mutability', `${parsed.attributes[0].name} cannot be changed.`);
    if (op !== 'remove' && value === undefined)
      throw invalid('invalidValue', 'Only a removal needs no value.');
    requireFew(++changes);
    resource = applied(op, parsed, value, resource);
  }
  return checked(type, resource, maxMembers);
}

function requireFew(changes: number): void {
  if (changes > MAX_OPERATIONS)
    throw invalid('tooMany', `At most ${MAX_OPERATIONS} attributes are changed at a time.`);
}

/** Names of protocol members are compared without case. */
function memberOf(object: object, name: string): unknown {
  return Object.entries(object).find(([given]) => given.toLowerCase() === name)?.[1];
}

function checked({ attributes }: ResourceType, resource: ScimObject, maxMembers: number): ScimObject {
  for (const { name, required, multi } of attributes) {
    const value = resource[name];
    if (required && (value === undefined || value === ''))
      throw invalid('invalidValue', `${name} is required.`);
    const most = name === 'members' ? maxMembers : MAX_VALUES;
    if (multi && Array.isArray(value) && value.length > most)
      throw invalid('tooMany', `${name} has more than ${most} values.`);
  }
  return resource;
}

type Op = 'add' | 'replace' | 'remove';

function applied(op: Op, { attributes, filter }: Path, given: unknown, resource: ScimObject): ScimObject {
  const [attribute, ...below] = attributes;
  if (attribute === undefined) return resource;
  const { name } = attribute;
  const before = resource[name];
  // No value is the same as null (RFC 7643 §2.5): nothing to add, and a replacement that leaves nothing.
  if (op === 'add' && given === null) return resource;
  const isRemoval = op === 'remove' || given === null;
  if (attribute.multi) {
    const values = Array.isArray(before) ? (before as readonly ScimObject[]) : [];
    return withValue(
      resource,
      name,
      listAfter(isRemoval ? 'remove' : op, attributes, { filter, given, values }),
    );
  }
  if (below.length > 0) {
    const inner = applied(op, { attributes: below }, given, isObject(before) ? before : {});
    return withValue(resource, name, inner);
  }
  if (isRemoval) return withValue(resource, name, undefined);
  const value = readValue(attribute, given);
  return withValue(resource, name, isObject(before) && isObject(value) ? { ...before, ...value } : value);
}

function listAfter(
  op: Op,
  [list, sub]: Path['attributes'],
  {
    filter,
    given,
    values,
  }: { readonly filter: Path['filter']; readonly given: unknown; readonly values: readonly ScimObject[] },
): readonly ScimObject[] {
  if (list === undefined) return values;
  if (filter === undefined && sub === undefined) {
    if (op === 'remove') {
      if (given === null || given === undefined) return [];
      const compared = ({ value }: ScimObject) => (typeof value === 'string' ? folded(value) : value);
      const removed = new Set(entriesOf(list, given).map(compared));
      return values.filter((one) => !removed.has(compared(one)));
    }
    return united(op === 'replace' ? [] : values, entriesOf(list, given));
  }
  const isChosen = (one: ScimObject) => filter === undefined || matches(filter, one);
  if (op === 'remove') {
    if (sub === undefined) return values.filter((one) => !isChosen(one));
    return values
      .map((one) => (isChosen(one) ? withValue(one, sub.name, undefined) : one))
      .filter((one) => Object.keys(one).some((name) => name !== 'type' && name !== 'primary'));
  }
  const change = sub === undefined ? entryOf(list, given) : { [sub.name]: readValue(sub, given) };
  if (values.some(isChosen))
    return united(
      [],
      values.map((one) => (isChosen(one) ? { ...one, ...change } : one)),
    );
  // The value is new: it gets what the filter says of it.
  const made: ScimObject = filter === undefined ? {} : Object.fromEntries(equalities(filter));
  if (filter !== undefined && !matches(filter, made))
    throw invalid('noTarget', `No value of ${list.name} fits the filter.`);
  return united(values, [{ ...made, ...change }]);
}

/** Each value once; of those that are primary the last stays so. */
function united(values: readonly ScimObject[], more: readonly ScimObject[]): readonly ScimObject[] {
  const all = new Map([...values, ...more].map((one) => [keyOf(one), one]));
  const primary = [...all.values()].filter((one) => one['primary'] === true).at(-1);
  return [...all.values()].map((one) =>
    one['primary'] === true && one !== primary ? { ...one, primary: false } : one,
  );
}

/** Values of one kind with the same `value` are one; a member has no kind. */
function keyOf({ value, type = '', ...rest }: ScimObject): string {
  return value === undefined ? JSON.stringify({ type, ...rest }) : `${type === 'User' ? '' : type} ${value}`;
}

function entriesOf(list: Attribute, given: unknown): readonly ScimObject[] {
  return (Array.isArray(given) ? given : [given]).map((one) => entryOf(list, one));
}

function entryOf(list: Attribute, given: unknown): ScimObject {
  const value = readValue({ ...list, multi: false }, given);
  if (!isObject(value)) throw invalid('invalidValue', `The values of ${list.name} must be objects.`);
  return value;
}

/** A value that fits the attribute. Refusals: `invalidValue`. */
function readValue({ name, type, sub = [] }: Attribute, sent: unknown): ScimValue {
  const given = Array.isArray(sent) && sent.length === 1 ? (sent[0] as unknown) : sent;
  if (type === 'complex') {
    const plain = sub.find((one) => one.name === 'value');
    if (plain !== undefined && typeof given === 'string') return { value: readValue(plain, given) };
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      throw invalid('invalidValue', `${name} must be an object.`);
    let value: ScimObject = {};
    for (const [member, one] of Object.entries(given)) {
      const found = sub.find((candidate) => candidate.name.toLowerCase() === member.toLowerCase());
      if (found !== undefined && one !== null && one !== undefined)
        value = { ...value, [found.name]: readValue(found, one) };
    }
    return value;
  }
  const simple: unknown = typeof given === 'object' && given !== null ? memberOf(given, 'value') : given;
  if (type === 'boolean') {
    const flag = flagOf(simple);
    if (flag === undefined) throw invalid('invalidValue', `${name} must be true or false.`);
    return flag;
  }
  if (typeof simple !== 'string' && typeof simple !== 'number')
    throw invalid('invalidValue', `${name} must be a text.`);
  const text = String(simple);
  if (text.length > MAX_TEXT) throw invalid('invalidValue', `${name} has more than ${MAX_TEXT} characters.`);
  return text;
}

/** Without the member for an undefined value or an empty list or object. */
function withValue(object: ScimObject, name: string, value: ScimValue | undefined): ScimObject {
  const { [name]: _, ...rest } = object;
  const isEmpty =
    value === undefined || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
  return isEmpty ? rest : { ...rest, [name]: value };
}

function isObject(value: ScimValue | undefined): value is ScimObject {
  return typeof value === 'object' && !Array.isArray(value);
}
