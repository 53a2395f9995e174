/** Parts of a sign-in at an identity provider, for every protocol. Source: docs/decisions/0276-single-sign-on.md. */
import { hash } from 'node:crypto';
import { z } from 'zod';

/** Secrets of one sign-in, which the browser brings back. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Time of the request, milliseconds since the epoch, of which the provider must ask the person anew; absent = it need not. */
  readonly asked?: number | undefined;
}

/** Clocks may differ: an authentication this much before its request counts. It is also the tolerance of `openid-client`. */
export const ASKED_TOLERANCE_MS = 30_000;

/** A person as the provider describes it. */
export interface ProviderPerson {
  readonly issuer: string;
  readonly subject: string;
  /** Id of the session at the provider; undefined = it names none. */
  readonly session: string | undefined;
  /** Time at which the provider authenticated the person, milliseconds since the epoch; absent = it does not say. */
  readonly authenticatedAt?: number | undefined;
  /** Time at which the provider ends the session, milliseconds since the epoch; absent = it names none. */
  readonly until?: number | undefined;
  readonly email: string | undefined;
  /** Undefined: the provider does not say. */
  readonly emailVerified: boolean | undefined;
  readonly name: string | undefined;
  /** Undefined: there are more than the provider puts into a token. */
  readonly groups: readonly string[] | undefined;
  /** For the sign-out at the provider; empty: it has none. */
  readonly idToken: string;
}

/**
 * `unavailable`: the provider cannot be used now. `denied`: it did not sign the person in, or the person did not want it.
 * `refused`: its answer does not belong to this sign-in, or is not valid. `unproven`: it did not ask the person anew, as it
 * had to.
 */
export class SignInFailure extends Error {
  readonly reason: 'unavailable' | 'denied' | 'refused' | 'unproven';
  constructor(reason: SignInFailure['reason'], message: string) {
    super(message);
    this.name = 'SignInFailure';
    this.reason = reason;
  }
}

/** Greatest number and length of what is read of a person. */
export const MAX_GROUPS = 1000;
export const MAX_TEXT = 255;
export const shortText = z.string().trim().min(1).max(MAX_TEXT);

/** Digest by which sessions name a person, or the session at the provider. */
export function personKey(issuer: string, value: string): string {
  return hash('sha256', `${issuer}\0${value}`, 'buffer').toString('base64url').slice(0, 32);
}
