/**
 * Ceremonies of passkeys: what browsers are asked, and the check of what authenticators answer. A challenge names its
 * use and its expiry under a key of the portal, so it is stored only when it is answered.
 *
 * Source: Web Authentication Level 3 §7; docs/identity.md.
 */
import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import type { Clock } from '@sealwright/runtime';
import { createdCredential, readCredential, signedCredential } from '../../../contracts/portal/users.ts';
import type {
  Passkey,
  PasskeyProof,
  UsedChallenge,
} from '../../../machines/portal/accounts/second-factor.ts';
import type { SecretBox } from '../../shared/secrets/secret-box.ts';

/** Lifetime of a challenge, milliseconds: that of the page with it. */
const CHALLENGE_LIFETIME_MS = 10 * 60_000;
/** COSE algorithms: EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257];
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

/** Loaded with the first answer. */
const LIBRARY = {
  server: () => import('@simplewebauthn/server'),
  helpers: () => import('@simplewebauthn/server/helpers'),
};
type Helpers = Awaited<ReturnType<typeof LIBRARY.helpers>>;

/** Descriptor of a known passkey. */
interface KnownPasskey {
  readonly type: 'public-key';
  readonly id: string;
  readonly transports: readonly string[];
}

/** Parts of `PublicKeyCredentialCreationOptionsJSON`. */
export interface PasskeyCreation {
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly challenge: string;
  readonly pubKeyCredParams: readonly { readonly type: 'public-key'; readonly alg: number }[];
  readonly excludeCredentials: readonly KnownPasskey[];
  readonly authenticatorSelection: { readonly residentKey: string; readonly userVerification: string };
}

/** Parts of `PublicKeyCredentialRequestOptionsJSON`. */
export interface PasskeyRequest {
  readonly rpId: string;
  readonly challenge: string;
  readonly allowCredentials: readonly KnownPasskey[];
  readonly userVerification: string;
}

export class PasskeyCeremonies {
  constructor(
    private readonly clock: Clock,
    private readonly box: SecretBox,
    /** `Portal:PublicUrl`: passkeys belong to its host. */
    private readonly publicUrl: () => string,
    private readonly library: typeof LIBRARY = LIBRARY,
  ) {}

  /** Undefined where browsers have no passkeys: the public address is a number, or not encrypted. */
  creation(
    use: string,
    user: { readonly id: string; readonly email: string },
    known: readonly Passkey[],
  ): PasskeyCreation | undefined {
    const party = this.#party();
    return (
      party && {
        rp: { id: party.id, name: party.id },
        user: {
          id: Buffer.from(user.id).toString('base64url'),
          name: user.email,
          displayName: user.email,
        },
        challenge: this.#challenge(use),
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
        excludeCredentials: known.map(descriptor),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
      }
    );
  }

  /** @param known empty: any that the browser offers. Undefined as above. */
  request(use: string, known: readonly Passkey[]): PasskeyRequest | undefined {
    const party = this.#party();
    return (
      party && {
        rpId: party.id,
        challenge: this.#challenge(use),
        allowCredentials: known.map(descriptor),
        userVerification: 'required',
      }
    );
  }

  /** Undefined for anything but an answer to a challenge of this use. @param given JSON */
  async created(
    use: string,
    given: string,
  ): Promise<
    { readonly passkey: Omit<Passkey, 'name' | 'addedAt'>; readonly challenge: UsedChallenge } | undefined
  > {
    const response = readCredential(createdCredential, given);
    const party = this.#party();
    const challenge = response && this.#answered(use, response.response.clientDataJSON);
    if (response === undefined || party === undefined || challenge === undefined) return undefined;
    const { transports, ...parts } = response.response;
    const known = TRANSPORTS.filter((one) => transports.includes(one));
    // Not in the `try`: a module that cannot be loaded is a fault of the service, and no wrong answer.
    const { verifyRegistrationResponse } = await this.library.server();
    const helpers = await this.library.helpers();
    try {
      const attestationObject = withoutStatement(helpers, parts.attestationObject);
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: { ...response, response: { ...parts, attestationObject }, clientExtensionResults: {} },
        expectedChallenge: challenge.text,
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      });
      if (!verified) return undefined;
      const { id, publicKey, counter } = registrationInfo.credential;
      return {
        passkey: {
          id,
          counter,
          transports: known,
          publicKey: Buffer.from(publicKey).toString('base64url'),
        },
        challenge: challenge.used,
      };
    } catch {
      return undefined;
    }
  }

  /** Undefined for anything but the answer of one of the passkeys to a challenge of this use. @param given JSON */
  async proof(use: string, given: string, passkeys: readonly Passkey[]): Promise<PasskeyProof | undefined> {
    const response = readCredential(signedCredential, given);
    const party = this.#party();
    const passkey = passkeys.find(({ id }) => id === response?.id);
    const challenge = response && this.#answered(use, response.response.clientDataJSON);
    if (response === undefined || party === undefined) return undefined;
    if (passkey === undefined || challenge === undefined) return undefined;
    const { userHandle, ...parts } = response.response;
    const { verifyAuthenticationResponse } = await this.library.server();
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: { ...response, response: parts, clientExtensionResults: {} },
        expectedChallenge: challenge.text,
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        credential: {
          id: passkey.id,
          counter: passkey.counter,
          publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        },
        requireUserVerification: true,
      });
      if (!verified) return undefined;
      return {
        passkey: passkey.id,
        counter: authenticationInfo.newCounter,
        challenge: challenge.used,
      };
    } catch {
      return undefined;
    }
  }

  /** Id of the user whom the answer names, unchecked: it only says whose passkeys may have made it. */
  userOf(given: string): string | undefined {
    const handle = readCredential(signedCredential, given)?.response.userHandle;
    return handle === undefined ? undefined : Buffer.from(handle, 'base64url').toString();
  }

  #party(): { readonly id: string; readonly origin: string } | undefined {
    const { hostname, origin, protocol } = new URL(this.publicUrl());
    if (isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0) return undefined;
    return protocol === 'https:' || hostname === 'localhost' ? { id: hostname, origin } : undefined;
  }

  #challenge(use: string): string {
    return this.box.encrypt(String(this.clock.now() + CHALLENGE_LIFETIME_MS), placeOf(use));
  }

  /** The challenge that the answer repeats; undefined for one of another use, and an expired one. */
  #answered(
    use: string,
    clientData: string,
  ): { readonly text: string; readonly used: UsedChallenge } | undefined {
    try {
      const { challenge } = JSON.parse(Buffer.from(clientData, 'base64url').toString()) as {
        readonly challenge?: unknown;
      };
      const text = String(challenge);
      const expiresAt = Number(this.box.decrypt(text, placeOf(use)));
      if (expiresAt <= this.clock.now()) return undefined;
      return { text, used: { sha256: hash('sha256', text), expiresAt } };
    } catch {
      return undefined;
    }
  }
}

/**
 * The attestation object without a statement: none is asked for, so none is judged. The check of some loads lists of
 * revoked certificates from addresses that the certificate of the sender names.
 */
function withoutStatement({ decodeAttestationObject, isoCBOR }: Helpers, given: string): string {
  const authData = decodeAttestationObject(new Uint8Array(Buffer.from(given, 'base64url'))).get('authData');
  const none = new Map<string, string | Uint8Array | Map<string, never>>([
    ['fmt', 'none'],
    ['attStmt', new Map<string, never>()],
    ['authData', authData],
  ]);
  return Buffer.from(isoCBOR.encode(none)).toString('base64url');
}

function placeOf(use: string): string {
  return `passkey/${use}`;
}

function descriptor({ id, transports }: Passkey): KnownPasskey {
  return { type: 'public-key', id, transports };
}
