/** Answers of the authenticator of the browser to requests of the server. */

import { base64, fromBase64 } from './requests.ts';

interface Descriptor {
  readonly type: 'public-key';
  readonly id: string;
  readonly transports: AuthenticatorTransport[];
}

/** Request of the server, as JSON of Web Authentication Level 3; only a new passkey has a user. */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly user?: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly excludeCredentials?: readonly Descriptor[];
  readonly allowCredentials?: readonly Descriptor[];
}

function base64url(given: ArrayBuffer): string {
  return base64(new Uint8Array(given)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const known = (list: readonly Descriptor[] = []) => list.map((one) => ({ ...one, id: fromBase64(one.id) }));

export async function answerTo(options: PasskeyOptions): Promise<string> {
  const { challenge: asked, user, excludeCredentials, allowCredentials, ...more } = options;
  const challenge = fromBase64(asked);
  const credential = await (user === undefined
    ? navigator.credentials.get({
        publicKey: { ...more, challenge, allowCredentials: known(allowCredentials) },
      })
    : navigator.credentials.create({
        publicKey: {
          ...(more as Pick<PublicKeyCredentialCreationOptions, 'rp' | 'pubKeyCredParams'>),
          challenge,
          user: { ...user, id: fromBase64(user.id) },
          excludeCredentials: known(excludeCredentials),
        },
      }));
  const { id, type, response } = credential as PublicKeyCredential;
  const parts: Record<string, unknown> = {};
  for (const name of [
    'clientDataJSON',
    'attestationObject',
    'authenticatorData',
    'signature',
    'userHandle',
  ]) {
    const value = Reflect.get(response, name) as ArrayBuffer | null | undefined;
    if (value) parts[name] = base64url(value);
  }
  if (response instanceof AuthenticatorAttestationResponse) parts['transports'] = response.getTransports();
  return JSON.stringify({ id, rawId: id, type, response: parts });
}
