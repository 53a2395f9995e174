/**
 * Attributes of users and groups as identity services name them. Reading, patching and filtering resources follow these
 * tables, and so do the schema documents.
 *
 * Source: RFC 7643 §§4, 7 and 8.7.
 */

/** A value of a resource: JSON. */
export type ScimValue = string | boolean | ScimObject | readonly ScimObject[];
export interface ScimObject {
  readonly [name: string]: ScimValue;
}

export interface Attribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'dateTime' | 'reference' | 'complex';
  /** A list of complex values. @default false */
  readonly multi?: boolean;
  readonly sub?: readonly Attribute[];
  readonly required?: boolean;
  /** Case counts in comparisons. @default false */
  readonly exact?: boolean;
  /** Set by the service alone. @default false */
  readonly readOnly?: boolean;
  readonly unique?: boolean;
  readonly description: string;
}

export interface ResourceType {
  readonly name: 'User' | 'Group';
  readonly endpoint: '/Users' | '/Groups';
  readonly schema: string;
  readonly extension?: string;
  readonly description: string;
  /** An extension is a complex attribute of its URN. */
  readonly attributes: readonly Attribute[];
}

export const CORE = 'urn:ietf:params:scim:schemas:core:2.0:';
export const MESSAGES = 'urn:ietf:params:scim:api:messages:2.0:';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

type More = Partial<Omit<Attribute, 'name' | 'description'>>;

function text(name: string, description: string, more: More = {}): Attribute {
  return { name, type: 'string', description, ...more };
}

function complex(name: string, description: string, sub: readonly Attribute[], more: More = {}): Attribute {
  return { name, type: 'complex', description, sub, ...more };
}

function plural(name: string, description: string, own: readonly Attribute[] = []): Attribute {
  const sub = [
    ...(own.length > 0 ? own : [text('value', 'The value.')]),
    text('display', 'Name for people.'),
    text('type', 'Kind, such as work.'),
    text('primary', 'True for the preferred value.', { type: 'boolean' }),
  ];
  return complex(name, description, sub, { multi: true });
}

/** Attributes of every resource. */
const COMMON: readonly Attribute[] = [
  text('id', 'Id of the resource.', { readOnly: true, exact: true }),
  text('externalId', 'Id at the identity service.', { exact: true }),
  complex(
    'meta',
    'Facts about the resource.',
    [
      text('resourceType', 'User or Group.', { readOnly: true, exact: true }),
      text('created', 'Time of the creation.', { readOnly: true, type: 'dateTime' }),
      text('lastModified', 'Time of the last change.', { readOnly: true, type: 'dateTime' }),
      text('location', 'Address of the resource.', { readOnly: true, type: 'reference', exact: true }),
      text('version', 'Entity tag.', { readOnly: true, exact: true }),
    ],
    { readOnly: true },
  ),
];

export const USER: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  schema: `${CORE}User`,
  extension: ENTERPRISE,
  description: 'People of the organization.',
  attributes: [
    ...COMMON,
    text('userName', 'Name at the identity service, unique in the organization.', {
      required: true,
      unique: true,
    }),
    complex('name', 'Parts of the name.', [
      text('formatted', 'The whole name.'),
      text('familyName', 'Family name.'),
      text('givenName', 'Given name.'),
      text('middleName', 'Middle names.'),
      text('honorificPrefix', 'Title before the name.'),
      text('honorificSuffix', 'Suffix of the name.'),
    ]),
    text('displayName', 'Name that the pages show.'),
    text('nickName', 'Casual name.'),
    text('profileUrl', 'Address of a profile.', { type: 'reference' }),
    text('title', 'Job title.'),
    text('userType', 'Kind of employment.'),
    text('preferredLanguage', 'Language.'),
    text('locale', 'Region for dates and numbers.'),
    text('timezone', 'Time zone.'),
    text('active', 'False: the person cannot sign in, and has no session.', { type: 'boolean' }),
    plural('emails', 'E-mail addresses. Links are sent to the primary, the work, or the first one.'),
    plural('phoneNumbers', 'Telephone numbers.'),
    plural('addresses', 'Postal addresses.', [
      text('formatted', 'The whole address.'),
      text('streetAddress', 'Street.'),
      text('locality', 'City.'),
      text('region', 'State.'),
      text('postalCode', 'Postal code.'),
      text('country', 'Country.'),
    ]),
    plural('roles', 'Kept, without effect: groups give roles.'),
    complex(ENTERPRISE, 'Facts of the employment.', [
      text('employeeNumber', 'Number of the employee.'),
      text('costCenter', 'Cost center.'),
      text('organization', 'Organization.'),
      text('division', 'Division.'),
      text('department', 'Department.'),
      complex('manager', 'Manager.', [
        text('value', 'Id of the manager.'),
        text('$ref', 'Address of the manager.', { type: 'reference' }),
        text('displayName', 'Name of the manager.'),
      ]),
    ]),
  ],
};

export const GROUP: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  schema: `${CORE}Group`,
  description: 'Groups of people. Those named after a role of the portal give it to their members.',
  attributes: [
    ...COMMON,
    text('displayName', 'Name, unique in the organization.', { required: true, unique: true }),
    complex(
      'members',
      'People of the group.',
      [
        text('value', 'Id of the user.'),
        text('display', 'Name of the user.'),
        text('type', 'User.'),
        text('$ref', 'Address of the user.', { type: 'reference' }),
      ],
      { multi: true },
    ),
  ],
};

export const RESOURCE_TYPES = [USER, GROUP] as const;

/** Finds an attribute without regard to case. */
export function attributeOf(among: readonly Attribute[], name: string): Attribute | undefined {
  const wanted = name.toLowerCase();
  return among.find((one) => one.name.toLowerCase() === wanted);
}

/**
 * The attributes from the resource down to the one that a path without filters names; undefined for an unknown one.
 * `name.givenName`, `<URN of the schema>:userName` and `<URN of the extension>:manager.value` are paths.
 */
export function attributesOn(
  { schema, extension, attributes }: ResourceType,
  path: string,
): readonly Attribute[] | undefined {
  const lower = path.toLowerCase();
  const chain: Attribute[] = [];
  let rest = path;
  if (extension !== undefined && lower.startsWith(extension.toLowerCase())) {
    const found = attributeOf(attributes, extension);
    if (found === undefined) return undefined;
    chain.push(found);
    rest = path.slice(extension.length);
    if (rest === '') return chain;
    if (!/^[:.]/.test(rest)) return undefined;
    rest = rest.slice(1);
  } else if (lower.startsWith(`${schema.toLowerCase()}:`)) rest = path.slice(schema.length + 1);
  for (const name of rest.split('.')) {
    const found: Attribute | undefined = attributeOf(
      chain.at(-1)?.sub ?? (chain.length === 0 ? attributes : []),
      name,
    );
    if (found === undefined) return undefined;
    chain.push(found);
  }
  return chain;
}

/** The schema documents. Source: RFC 7643 §7. */
export function schemaDocuments(): readonly ScimDocument[] {
  return RESOURCE_TYPES.flatMap(({ name, schema, extension, description, attributes }) => {
    const own = attributes.filter(
      (one) => one.name !== extension && one.name !== 'id' && one.name !== 'meta',
    );
    const documents = [{ id: schema, name: String(name), description, attributes: own }];
    const extended = extension && attributeOf(attributes, extension);
    if (extended)
      documents.push({
        id: extended.name,
        name: 'EnterpriseUser',
        description: extended.description,
        attributes: [...(extended.sub ?? [])],
      });
    return documents.map((document) => ({
      schemas: [`${CORE}Schema`],
      ...document,
      attributes: document.attributes.map(described),
    }));
  });
}

export interface ScimDocument {
  readonly id: string;
  readonly [member: string]: unknown;
}

function described(attribute: Attribute): object {
  const { name, type, multi = false, sub, required = false, exact = false, readOnly = false } = attribute;
  const { unique = false, description } = attribute;
  return {
    name,
    type,
    multiValued: multi,
    description,
    required,
    caseExact: exact,
    mutability: readOnly ? 'readOnly' : 'readWrite',
    returned: 'default',
    uniqueness: unique ? 'server' : 'none',
    ...(type === 'reference' && { referenceTypes: ['external'] }),
    ...(sub !== undefined && { subAttributes: sub.map(described) }),
  };
}
