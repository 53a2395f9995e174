/** Leaves out of a description what generators of clients do not read: the service checks it anyway. */

/**
 * Without pages, expressions, refusals of unknown members, null and true as words, choices of types, members that contain their own schema, and the codes of each
 * refusal; with one media type for each content.
 *
 * @param isForOneFile forms have one file: the generator reads no second one
 */
export function forGenerators(document, isForOneFile = false) {
  // In Go NewJob makes a Job: the name of a type must not be that of a function.
  const text = JSON.stringify(document).replaceAll(
    /"New(\w+)":\{|(#\/components\/schemas\/)New(\w+)/g,
    renamed,
  );
  const copy = JSON.parse(text, simplified);
  copy.paths = Object.fromEntries(Object.entries(copy.paths).filter(([path]) => path.startsWith('/api/')));
  const operations = Object.values(copy.paths).flatMap((methods) => Object.values(methods));
  for (const { requestBody, responses } of operations)
    [requestBody, ...Object.values(responses)].forEach(keepOne);
  Object.values(copy.components.responses ?? {}).forEach(keepOne);
  Object.values(copy.components.responses ?? {}).forEach(leaveOutCodes);
  if (isForOneFile) for (const { requestBody } of operations) leaveOutLists(requestBody);
  const { schemas } = copy.components;
  for (const name of Object.keys(schemas)) leaveOutItself(schemas[name], name, schemas);
  return copy;
}

function renamed(_, key, place = '', name = '') {
  return key === undefined ? `${place}Requested${name}` : `"Requested${key}":{`;
}

function simplified(key, value) {
  if (key === 'pattern' && typeof value === 'string') return undefined;
  if (key === 'additionalProperties' && (value === false || Object.keys(value).length === 0))
    return undefined;
  if (key === 'enum' && Array.isArray(value)) {
    const words = value.filter((one) => typeof one === 'string');
    return words.length > 0 ? words : undefined;
  }
  if (value?.anyOf || value?.oneOf || isWrapped(value, (one) => one.$ref === undefined))
    return anything(value);
  if (value?.nullable === true && value.type === 'object' && value.properties === undefined)
    return { ...value, nullable: undefined };
  return value;
}

function isWrapped(value, fits) {
  return value?.allOf?.length === 1 && fits(value.allOf[0]);
}

function anything({ description }) {
  return { description };
}

function keepOne(part) {
  const types = Object.keys(part?.content ?? {});
  if (types.length < 2) return;
  const wanted = ['application/json', 'multipart/form-data', 'application/octet-stream'];
  const kept = wanted.find((type) => types.includes(type)) ?? types[0];
  part.content = { [kept]: part.content[kept] };
}

/** Of what is made of one schema, the schema. */
function leaveOutCodes({ content = {} }) {
  for (const part of Object.values(content))
    if (part.schema?.allOf?.length === 1) part.schema = part.schema.allOf[0];
}

function leaveOutLists({ content = {} } = {}) {
  const { properties = {} } = content['multipart/form-data']?.schema ?? {};
  for (const [name, { items }] of Object.entries(properties))
    if (items?.format === 'binary') delete properties[name];
}

function leaveOutItself(part, name, schemas) {
  if (typeof part !== 'object' || part === null) return;
  for (const [key, value] of Object.entries(part)) {
    const isItself = ({ $ref }) => $ref !== undefined && reached($ref, schemas).has(name);
    if (isItself(value ?? {}) || isWrapped(value, isItself)) part[key] = anything(value);
    else leaveOutItself(value, name, schemas);
  }
}

/** Names of the schemas that a reference leads to, directly or not. */
function reached(reference, schemas, found = new Set()) {
  const name = reference.split('/').at(-1);
  if (found.has(name)) return found;
  found.add(name);
  for (const [, inner] of JSON.stringify(schemas[name]).matchAll(/"\$ref":"([^"]+)"/g))
    reached(inner, schemas, found);
  return found;
}
