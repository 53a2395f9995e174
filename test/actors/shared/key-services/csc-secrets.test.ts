/** Values that credentials of the mode `explicit` ask for: every type that is known, and others. */
import test from 'ava';
import { PERSON_MODES, readPersonCredential } from '../../../../actors/shared/key-services/csc-person.ts';
import {
  isSecretRefused,
  secretsIn,
  TYPED,
  TYPED_OTP,
} from '../../../../actors/shared/key-services/csc-secrets.ts';
import { pki } from '../../../pki/pki.ts';

const kindsOf = (body: { readonly [member: string]: unknown }) => secretsIn(body)?.map(({ kind }) => kind);
const objects = (...all: readonly unknown[]) => ({ auth: { mode: 'explicit', objects: all } });

for (const [type, kinds] of Object.entries(TYPED))
  for (const [index, kind] of kinds.entries())
    test(`${type} ${index === 0 ? 'alone' : 'with a generator'} is a ${kind}`, (t) => {
      const object = { type, id: 'a', ...(index === 1 && { generator: 'totp' }) };
      t.deepEqual(kindsOf(objects(object)), [kind]);
      t.deepEqual(kindsOf(objects({ type: 'Password', id: 'b' }, object)), ['password', kind]);
    });

for (const [type, kind] of Object.entries(TYPED_OTP))
  test(`an OTP of version 1 that is ${type} is a ${kind}`, (t) => {
    t.deepEqual(kindsOf({ authMode: 'explicit', OTP: { presence: 'true', type } }), [kind]);
    const both = { PIN: { presence: true }, OTP: { presence: true, type } };
    t.deepEqual(kindsOf(both), ['password', kind]);
  });

/** Nothing of it is asked for. */
const UNTYPED: { readonly [what: string]: { readonly [member: string]: unknown } } = {
  'a password out of band': objects({ type: 'PasswordOOB', id: 'a' }),
  'a challenge out of band': objects(
    { type: 'Password', id: 'a' },
    { type: 'ChallengeResponseOOB', id: 'b' },
  ),
  'another type': objects({ type: 'Digest', id: 'a' }),
  'the name of a member of all objects': objects({ type: 'constructor', id: 'a' }),
  'no type': objects({ id: 'a' }),
  'no id': objects({ type: 'Password' }),
  'an id that is too long': objects({ type: 'Password', id: 'a'.repeat(101) }),
  'no object': objects('PIN'),
  'more than four': objects(...Array.from({ length: 5 }, (_, id) => ({ type: 'Password', id: `${id}` }))),
  'an OTP of version 1 without type': { OTP: { presence: 'true' } },
};

for (const [what, body] of Object.entries(UNTYPED))
  test(`${what} cannot be typed`, (t) => {
    t.is(secretsIn(body), undefined);
  });

test('what version 1 does not ask for is not asked', (t) => {
  t.deepEqual(kindsOf({ PIN: { presence: 'false' }, OTP: { presence: 'optional', type: 'online' } }), []);
  t.deepEqual(kindsOf({}), []);
});

for (const [error, text, isRefused] of [
  ['invalid_pin', 'The PIN is invalid', true],
  ['invalid_otp', '', true],
  ['invalid_authentication_data', 'The authentication data is invalid', true],
  ['invalid_request', 'Invalid parameter authData', true],
  ['invalid_request', 'Credential locked', true],
  ['invalid_request', 'Numbers of signatures is too high', false],
  ['invalid_token', 'Invalid access_token', false],
  ['quota_exceeded', 'No signatures are left', false],
] as const)
  test(`${error} ${text} is about a typed value: ${isRefused}`, (t) => {
    const body = { error, error_description: text };
    t.is(isSecretRefused({ status: 400, body }), isRefused);
    t.false(isSecretRefused({ status: 200, body }));
  });

/** Modes of a credential, and whether it signs at a provider of the operator and of an organization. */
const MODES: readonly (readonly [mode: string, operator: boolean, organization: boolean])[] = [
  ['oauth2code', true, true],
  ['explicit', true, false],
  ['implicit', false, false],
  ['oauth2token', false, false],
  ['constructor', false, false],
  ['', false, false],
];

test('each mode that may sign for a person is decided here', (t) => {
  const open = MODES.filter(([, operator, organization]) => operator || organization);
  t.deepEqual(
    Object.keys(PERSON_MODES),
    open.map(([mode]) => mode),
  );
});

for (const [mode, operator, organization] of MODES)
  for (const version of [1, 2])
    test(`a credential of the mode ${mode} by version ${version} signs for a person as decided`, (t) => {
      const PIN = { id: 'PIN', type: 'Password' };
      const first = { authMode: mode, PIN: { presence: true } };
      const body = {
        key: { status: 'enabled', algo: ['1.2.840.10045.2.1'] },
        cert: { certificates: [pki().signer('p-256').certificate.toString('base64')] },
        ...(version === 1 ? first : { auth: { mode, objects: [PIN] } }),
      };
      for (const [origin, signs] of [
        ['operator', operator],
        ['organization', organization],
      ] as const) {
        const { trouble, secrets } = readPersonCredential('a', body, origin);
        t.is(trouble, signs ? undefined : 'manner', origin);
        t.is(secrets !== undefined, signs && mode === 'explicit', origin);
      }
    });
