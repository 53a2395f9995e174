/**
 * What a credential with the mode `explicit` takes for an authorization: values that somebody types. Source: CSC API 2.0.0.2,
 * 8.3 and 11.5; 1.0.4.0, 11.5.
 */
import { isObject, type JsonAnswer } from './json-requests.ts';

/** `password`: always the same. `code`: of a device of the person. `challenge`: of a message that the service sends first. */
export type SecretKind = 'password' | 'code' | 'challenge';

export interface AskedSecret {
  readonly id: string;
  readonly kind: SecretKind;
  /** Name by which the service calls it. */
  readonly label: string | undefined;
  readonly isNumeric: boolean;
}

/** Kinds of version 2 by type, without and with a generator. What is not named is not typed here, so nothing is asked for. */
export const TYPED: { readonly [type: string]: readonly [alone: SecretKind, generated: SecretKind] } = {
  Password: ['password', 'code'],
  ChallengeResponse: ['challenge', 'challenge'],
};

/** Kinds of the OTP of version 1 by its type. */
export const TYPED_OTP: { readonly [type: string]: SecretKind } = { offline: 'code', online: 'challenge' };

const MAX_SECRETS = 4;
const MAX_ID = 100;
const MAX_LABEL = 60;

/** @returns undefined when something else than typed values is asked for, or nothing that is understood */
export function secretsIn(body: JsonAnswer['body']): readonly AskedSecret[] | undefined {
  const auth = isObject(body['auth']) ? body['auth'] : undefined;
  const found = auth === undefined ? firstVersion(body) : secondVersion(auth['objects']);
  if (found.length > MAX_SECRETS) return undefined;
  const secrets = found.filter((one) => one !== undefined);
  return secrets.length === found.length ? secrets : undefined;
}

function secondVersion(objects: unknown): readonly (AskedSecret | undefined)[] {
  if (!Array.isArray(objects)) return [];
  return objects.map((one: unknown) => {
    if (!isObject(one)) return undefined;
    const { id, type, generator, label, format } = one;
    const kinds = Object.hasOwn(TYPED, String(type)) ? TYPED[String(type)] : undefined;
    if (kinds === undefined || typeof id !== 'string' || id === '' || id.length > MAX_ID) return undefined;
    return {
      id,
      kind: kinds[generator === undefined ? 0 : 1],
      label: labelOf(label),
      isNumeric: format === 'N',
    };
  });
}

function firstVersion(body: JsonAnswer['body']): readonly (AskedSecret | undefined)[] {
  return ['PIN', 'OTP'].flatMap((id) => {
    const member = body[id];
    if (!isObject(member) || String(member['presence']) !== 'true') return [];
    const { type, label, format } = member;
    const typed = Object.hasOwn(TYPED_OTP, String(type)) ? TYPED_OTP[String(type)] : undefined;
    const kind = id === 'PIN' ? 'password' : typed;
    if (kind === undefined) return [undefined];
    return [{ id, kind, label: labelOf(label), isNumeric: format === 'N' }];
  });
}

function labelOf(label: unknown): string | undefined {
  return typeof label === 'string' && label.trim() !== '' ? label.trim().slice(0, MAX_LABEL) : undefined;
}

/** Members of `credentials/authorize` with typed values, by their ids. */
export function authorizationData(
  values: ReadonlyMap<string, string>,
  isFirst: boolean,
): { readonly [member: string]: unknown } {
  return isFirst
    ? Object.fromEntries(values)
    : { authData: [...values].map(([id, value]) => ({ id, value })) };
}

/** Words of a refused value, or of a credential that is locked by such, in an answer. */
const REFUSED =
  /(?<![a-z])(?:pin|otp|auth(?:entication)?[ _]?data|credential (?:is )?(?:locked|blocked))(?![a-z])/i;

/** True for the answer to a wrong value: it is not sent again, since services lock credentials after some. */
export function isSecretRefused({ status, body }: JsonAnswer): boolean {
  const { error, error_description: text } = body;
  return status !== 200 && [error, text].some((one) => typeof one === 'string' && REFUSED.test(one));
}
