/**
 * Users: those of the own organization, and with an administration key all users.
 *
 * Source: docs/portal-values.md §20.
 */

import { z } from 'zod';
import { entity, maybeFlag, maybeText, members, shown, text, time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { identity } from './entities.ts';
import { ANA, EXAMPLE_IDS } from './examples.ts';
import { organizationParams } from './ids.ts';
import { nameQuery, pageOf, paging } from './lists.ts';
import { operation } from './operation.ts';

/** Longest member, characters; the service counts without white space at the ends and invisible characters. */
export const MAX_USER_TEXT = 255;

const name = { description: 'Full name of the person.', exampleValue: ANA.name };
const identifier = {
  description:
    'National number or another identifier of the person, at most 50 characters. By configuration its check digits are verified.',
  exampleValue: ANA.identifier,
};
const email = {
  description: 'E-mail address. Links and codes are sent to it.',
  exampleValue: ANA.email,
};
const phone = {
  description: 'Telephone number with country code. Kept; nothing is sent to it.',
  exampleValue: '+351 912 345 678',
};
const access = {
  description: 'Rights of the person within the organization. Members that are left out are false.',
};
const administrator = {
  description: 'Whether the person may administer the organization.',
  exampleValue: true,
};
const manager = {
  description: 'Whether the person may manage documents of the organization.',
  exampleValue: true,
};
const auditor = {
  description: 'Whether the person may read everything and change nothing. Left out for others.',
  exampleValue: false,
};
const operator = { description: 'Whether the person may create documents.', exampleValue: true };

const profile = {
  id: identity,
  name: z.string().meta(name),
  identifier: z.string().nullable().meta(identifier),
  email: z.string().meta(email),
  phone: z.string().nullable().meta(phone),
};

const accessProfile = z.strictObject({
  administrator: z.boolean().meta({ ...administrator, exampleValue: false }),
  manager: z.boolean().meta({ ...manager, exampleValue: false }),
  operator: z.boolean().meta(operator),
  auditor: z
    .literal(true)
    .optional()
    .meta({ ...auditor, exampleValue: true }),
});
export type AccessProfile = Value<typeof accessProfile>;

const member = entity('OrganizationUser', {
  ...profile,
  accessProfile: accessProfile.meta(access),
  active: z
    .boolean()
    .describe('False: deactivated by the identity service, and without rights until it activates them.'),
});
export type MemberView = Value<typeof member>;

const user = entity('User', {
  ...profile,
  subject: shown(z.string().nullable(), 'Name of the person in the other system. Null: none.', 'hr-1042'),
});
export type UserView = Value<typeof user>;
export type UserProfile = Omit<UserView, 'id' | 'subject'>;

const line = { type: 'string', maxLength: MAX_USER_TEXT } as const;
const maybeLine = { anyOf: [line, { type: 'null' }] } as const;
const newProfile = {
  name: text.meta({ ...name, openapi: line }),
  identifier: maybeText.meta({ ...identifier, openapi: maybeLine }),
  email: text.meta({ ...email, openapi: line }),
  phone: maybeText.meta({ ...phone, openapi: maybeLine }),
};

function profileOf({
  name,
  identifier,
  email,
  phone,
}: z.output<ReturnType<typeof members<typeof newProfile>>>): UserProfile {
  return { name, identifier: identifier ?? null, email, phone: phone ?? null };
}

const newMember = members({
  ...newProfile,
  accessProfile: members({
    administrator: maybeFlag.meta(administrator),
    manager: maybeFlag.meta(manager),
    operator: maybeFlag.meta(operator),
    auditor: maybeFlag.meta(auditor),
  })
    .nullish()
    .meta(access),
})
  .transform(({ accessProfile, ...given }) => ({
    profile: profileOf(given),
    access: {
      administrator: accessProfile?.administrator ?? false,
      manager: accessProfile?.manager ?? false,
      operator: accessProfile?.operator ?? false,
      ...(accessProfile?.auditor === true && { auditor: true as const }),
    },
  }))
  .meta({ id: 'NewOrganizationUser' });
export type NewMember = Value<typeof newMember>;

const listQuery = members({
  q: nameQuery,
  limit: paging.limit,
  offset: paging.offset,
});
export type UserQuery = Value<typeof listQuery>;

const userId = shown(z.string(), 'Id of the person, from the list of users.', EXAMPLE_IDS.flowAction);

const memberPage = pageOf(member).meta({ id: 'OrganizationUserPage' });

const PERSON = { ...ANA, phone: '+351 912 345 678' };
const MEMBER = { ...PERSON, accessProfile: { administrator: false, manager: true, operator: true } };

export const listOwnUsers = operation('GET /api/organizations/users', {
  group: 'Organizations',
  summary: 'Lists the people of the organization.',
  description: 'Contains the access profile of each. The session of a user needs the role administrator.',
  scope: 'Read',
  sessionScope: 'Administer',
  query: listQuery,
  reply: memberPage,
});

export const addOwnUser = operation('POST /api/organizations/users', {
  group: 'Organizations',
  summary: 'Adds a person to the organization, or changes the access profile of a member.',
  description:
    'The person is found by `email`: a new person is added, a member gets the given profile. Administrators, managers, operators and auditors can sign in to the pages with a link that they receive by e-mail; a change of the role ends their sessions. A key that expires registers only people without a role. `LimitExceeded`: the person belongs to 100 organizations.',
  scope: 'Administer',
  body: newMember,
  reply: member,
  examples: { request: MEMBER },
  refusals: ['LimitExceeded', 'NameTaken'],
});

export const removeOwnUser = operation('DELETE /api/organizations/users/{userId}', {
  group: 'Organizations',
  summary: 'Removes a person from the organization.',
  description:
    'Ends the sessions of the user in this organization. The person stays in other organizations, and documents do not change. `UserNotFound`: the person is not in the organization.',
  scope: 'Administer',
  params: z.object({ userId }),
  reply: 'empty',
  refusals: ['UserNotFound'],
});

const signIn = entity('SignIn', {
  id: shown(z.int(), 'Number of the entry in the history of the organization.', 12),
  date: time.describe('Time of the event, UTC.'),
  action: z
    .enum([
      'SignedIn',
      'SignedOut',
      'SessionsEnded',
      'FactorAdded',
      'FactorRemoved',
      'PasskeyAdded',
      'PasskeyRemoved',
      'FactorReset',
      'FactorFailed',
      'RecoveryCodesRenewed',
      'RecoveryCodeUsed',
    ])
    .describe('What happened.'),
  userId: shown(z.string(), 'Id of the person who signed in or out.', EXAMPLE_IDS.flowAction),
  sessionId: shown(
    z.string().nullable(),
    'Id of the session. Null: all sessions of the user.',
    '9f86d081884c7d65',
  ),
  ipAddress: shown(z.string().nullable(), 'Address of the browser. Null: not known.', '203.0.113.7'),
  userAgent: shown(z.string().nullable(), '`User-Agent`, shortened. Null: not known.', 'Mozilla/5.0'),
  message: shown(z.string(), 'The entry as it is hashed, with who ended sessions.', 'Signed in. User 5d2c.'),
  hash: shown(z.string().nullable(), 'Hash that chains the entries.', '9f86d081884c7d659a2f'),
});
export type SignInEntry = Value<typeof signIn>;

const afterEntry = shown(
  z
    .string()
    .regex(/^\d{1,9}$/, { error: 'must be a whole number of at least 0' })
    .transform(Number)
    .optional(),
  'Number of the last entry that is known. Absent: from the first on.',
  '12',
);

export const listSignIns = operation('GET /api/organizations/sign-ins', {
  group: 'Organizations',
  summary: 'Exports sign-ins and ends of sessions of users, oldest first.',
  description:
    'The entries are part of the tamper-evident history, and stay when a user is removed. Ask again with `next` as `after` until it is null. The session of a user needs the role administrator.',
  scope: 'Read',
  sessionScope: 'Administer',
  query: members({
    after: afterEntry,
    limit: paging.limit,
  }),
  reply: entity('SignInPage', {
    items: z.array(signIn).describe('Entries, oldest first.'),
    next: shown(z.int().nullable(), 'The `after` of the following page. Null: none yet.', 12),
  }),
});

export const exportSignIns = operation('GET /api/organizations/sign-ins/export', {
  group: 'Organizations',
  summary: 'Sends the entries of sign-ins as a CSV file, oldest first.',
  description:
    'As `GET /api/organizations/sign-ins`, at most 100,000 entries: the first column of the last one is the `after` of the next file. Two at a time for an organization; more get `TooManyRequests` and `Retry-After`.',
  scope: 'Read',
  sessionScope: 'Administer',
  query: members({ after: afterEntry }),
  reply: 'csv',
});

const session = entity('Session', {
  id: shown(z.string(), 'Id of the session, as in the log of sign-ins.', '9f86d081884c7d65'),
  current: z.boolean().describe('Whether this request belongs to the session.'),
  begunAt: time.nullable().describe('Time of the sign-in. Null: not known.'),
  lastUsedAt: time.nullable().describe('Last use, exact to ten minutes. Null: not known.'),
  expiresAt: time.describe('End of the session.'),
  ipAddress: signIn.shape.ipAddress,
  userAgent: signIn.shape.userAgent,
});

const ofUser = shown(
  z.string().optional(),
  'The person. Absent: the signed-in user. Others need `Administer`.',
  EXAMPLE_IDS.flowAction,
);

export const listSessions = operation('GET /api/sessions', {
  group: 'Organizations',
  summary: 'Lists the open sessions of a user in the organization, newest first.',
  description:
    'A session lists those of its user; administrators and auditors also those of others. A key with `Read` names any person.',
  scope: 'Read',
  query: members({ userId: ofUser }),
  reply: entity('Sessions', { items: z.array(session).describe('Open sessions.') }),
  refusals: ['UserNotFound'],
});

export const endSessions = operation('DELETE /api/sessions', {
  group: 'Organizations',
  summary: 'Ends one session of a user, or all.',
  description:
    'All includes those of the editor. It counts from the next request on, and is logged. Auditors use the page of their account.',
  scope: 'Create',
  query: members({
    userId: ofUser,
    id: shown(z.string().optional(), 'The session. Absent: all.', '9f86d081884c7d65'),
  }),
  reply: 'empty',
  refusals: ['UserNotFound'],
});

export const listUsers = operation('GET /api/users', {
  group: 'Administration',
  summary: 'Lists the people of all organizations.',
  description: 'For keys of the role Administrator. `q` searches in names, addresses and identifiers.',
  scope: 'Read',
  auth: 'administrator',
  query: listQuery,
  reply: pageOf(user).meta({ id: 'UserPage' }),
});

export const putUser = operation('PUT /api/users/{subject}', {
  group: 'Administration',
  summary: 'Creates or changes the person with this id in another system.',
  description:
    'For keys of the role Administrator. Changes name, address, identifier and phone; organizations and roles stay. `subject` is the id in the other system; a person without one is found by the address. `NameTaken`: the address belongs to another person. A key with scopes needs all of them, and a key that expires cannot, because sign-in links are sent to the address.',
  scope: 'Administer',
  auth: 'administrator',
  params: z.object({
    subject: shown(z.string(), 'Id of the person in the other system.', 'hr-1042'),
  }),
  body: members(newProfile).transform(profileOf).meta({ id: 'NewUser' }),
  reply: user,
  examples: { request: PERSON },
  refusals: ['NameTaken', 'UserNotFound'],
});

export const listUsersOf = operation('GET /api/organizations/{id}/users', {
  group: 'Organizations',
  summary: 'Lists the people of an organization.',
  description: 'For keys of the role Administrator. Contains the access profile of each.',
  scope: 'Read',
  auth: 'administrator',
  params: organizationParams,
  query: listQuery,
  reply: memberPage,
  refusals: ['OrganizationNotFound'],
});

export const addUserTo = operation('POST /api/organizations/{id}/users', {
  group: 'Organizations',
  summary: 'Adds a person to an organization, or changes the access profile of a member.',
  description:
    'For keys of the role Administrator. As `POST /api/organizations/users`, for any organization.',
  scope: 'Administer',
  auth: 'administrator',
  params: organizationParams,
  body: newMember,
  reply: member,
  examples: { request: MEMBER },
  refusals: ['OrganizationNotFound', 'LimitExceeded', 'NameTaken'],
});

export const removeUserFrom = operation('DELETE /api/admin/organizations/{id}/users/{userId}', {
  group: 'Administration',
  summary: 'Removes a person from an organization.',
  description:
    'For keys of the role Administrator. As `DELETE /api/organizations/users/{userId}`, for any organization.',
  scope: 'Administer',
  auth: 'administrator',
  params: organizationParams.extend({ userId }),
  reply: 'empty',
  refusals: ['OrganizationNotFound', 'UserNotFound'],
});

/** Longest answer of an authenticator, as JSON. */
export const MAX_PASSKEY_ANSWER = 16_384;

const base64url = z.string().max(MAX_PASSKEY_ANSWER);
/** Parts of an answer: Web Authentication Level 3 §5.1. */
const common = {
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
};
export const createdCredential = z.object({
  ...common,
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().max(20)).max(10).default([]),
  }),
});
export const signedCredential = z.object({
  ...common,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.nullish().transform((given) => given ?? undefined),
  }),
});

/** Undefined for another text. */
export function readCredential<Shape>(schema: z.ZodType<Shape>, given: string): Shape | undefined {
  if (given === '' || given.length > MAX_PASSKEY_ANSWER) return undefined;
  try {
    return schema.safeParse(JSON.parse(given)).data;
  } catch {
    return undefined;
  }
}
