/**
 * The second factor of a user: an authenticator app, passkeys, or both, with recovery codes; and the limit of wrong codes.
 * Only who has passed the first factor can enter codes, so nobody else locks a user out; recovery codes and passkeys,
 * which nobody guesses, work in spite of the lock.
 *
 * Source: docs/identity.md.
 */

import { MINUTE_MS } from '../../../contracts/times.ts';
import type { Millis, OrganizationId } from '../../ids.ts';

/** Recovery codes of a user. */
export const RECOVERY_CODES = 10;
/** Wrong codes in a row before codes of the app are refused for a time. */
const FREE_FAILURES = 5;
/** Longest lock; each further wrong code doubles it up to here. */
const MAX_LOCK_MS = 60 * MINUTE_MS;

/** Passkeys of a user, at most. */
const MAX_PASSKEYS = 10;

/** A credential of Web Authentication. */
export interface Passkey {
  /** Of the credential, Base64url. */
  readonly id: string;
  /** COSE key, Base64url. */
  readonly publicKey: string;
  /** Signatures of the authenticator so far; 0 = it does not count. */
  readonly counter: number;
  /** Ways by which browsers reach the authenticator. */
  readonly transports: readonly string[];
  readonly name: string;
  readonly addedAt: Millis;
  /** Absent = never. */
  readonly usedAt?: Millis;
  /**
   * Organizations into which it signs in without a mailed link. Those that the person joins later are not among them where
   * nobody has proven the present address with it. Absent: all.
   */
  readonly alone?: readonly OrganizationId[];
}

/** A challenge that was answered: another answer to it is a replay. */
export interface UsedChallenge {
  /** SHA-256, lower-case hex. */
  readonly sha256: string;
  readonly expiresAt: Millis;
}

/** Challenges answered within the lifetime of one, at most. */
const MAX_CHALLENGES = 100;

export interface SecondFactor {
  /** Secret of the app, encrypted. Absent: there are passkeys alone. */
  readonly totp?: string;
  /** Absent = none. */
  readonly passkeys?: readonly Passkey[];
  /** Of the last code that was accepted: a code works once. */
  readonly counter: number;
  /** SHA-256 of unused recovery codes, lower-case hex. */
  readonly recovery: readonly string[];
  readonly since: Millis;
  /** Wrong codes since the last right one. */
  readonly failures: number;
  /** Until then no code of the app is accepted. */
  readonly lockedUntil: Millis;
}

/** A signature by a passkey that the service has verified. */
export interface PasskeyProof {
  /** Its id. */
  readonly passkey: string;
  readonly counter: number;
  readonly challenge: UsedChallenge;
}

/** A code that the service has checked: its counter, or the digest of a recovery code. Null: the code was wrong. */
export type FactorProof = { readonly counter: number } | { readonly recovery: string } | PasskeyProof | null;

/** The factor with an app. @param factor without one. A factor that exists keeps its recovery codes. */
export function withApp(
  factor: SecondFactor | undefined,
  { totp, counter, recovery }: { readonly totp: string } & Pick<SecondFactor, 'counter' | 'recovery'>,
  at: Millis,
): SecondFactor {
  return { ...(factor ?? newFactor(recovery, at)), totp, counter };
}

/** Undefined: the app was all. */
export function withoutApp({ totp: _, ...factor }: SecondFactor): SecondFactor | undefined {
  return factor.passkeys?.length ? factor : undefined;
}

/** Undefined: there are as many as permitted, or it is there. */
export function withPasskey(
  factor: SecondFactor | undefined,
  { passkey, recovery }: { readonly passkey: Passkey; readonly recovery: readonly string[] },
  at: Millis,
): SecondFactor | undefined {
  const { passkeys = [], ...more } = factor ?? newFactor(recovery, at);
  if (passkeys.length >= MAX_PASSKEYS || passkeys.some(({ id }) => id === passkey.id)) return undefined;
  return { ...more, passkeys: [...passkeys, passkey] };
}

/** The factor under another address, which may be that of another person: passkeys sign in alone to no more than before. */
export function withNewAddress(
  factor: SecondFactor | undefined,
  organizations: readonly OrganizationId[],
): SecondFactor | undefined {
  if (factor?.passkeys === undefined) return factor;
  const passkeys = factor.passkeys.map((one) => ({ ...one, alone: one.alone ?? organizations }));
  return { ...factor, passkeys };
}

/** Undefined: it was all. */
export function withoutPasskey(factor: SecondFactor, passkey: string): SecondFactor | undefined {
  const passkeys = factor.passkeys?.filter(({ id }) => id !== passkey) ?? [];
  return factor.totp === undefined && passkeys.length === 0 ? undefined : { ...factor, passkeys };
}

/** The challenges answered so far, with one more. Undefined: it was answered, or has expired. */
export function withChallenge(
  used: readonly UsedChallenge[] = [],
  challenge: UsedChallenge,
  at: Millis,
): readonly UsedChallenge[] | undefined {
  const open = used.filter(({ expiresAt }) => expiresAt > at);
  const isNew = challenge.expiresAt > at && open.every(({ sha256 }) => sha256 !== challenge.sha256);
  return isNew && open.length < MAX_CHALLENGES ? [...open, challenge] : undefined;
}

function newFactor(recovery: readonly string[], at: Millis): SecondFactor {
  return { counter: 0, recovery, since: at, failures: 0, lockedUntil: 0 };
}

/** The factor after a proof; undefined = not accepted: locked, a code that was used, or a counter that did not grow. */
export function afterProof(factor: SecondFactor, proof: FactorProof, at: Millis): SecondFactor | undefined {
  const isLocked = factor.lockedUntil > at;
  if (proof === null) {
    if (isLocked) return undefined;
    const failures = factor.failures + 1;
    const beyond = failures - FREE_FAILURES;
    const lock = beyond < 0 ? 0 : Math.min(MAX_LOCK_MS, MINUTE_MS * 2 ** beyond);
    return { ...factor, failures, lockedUntil: at + lock };
  }
  if ('recovery' in proof) {
    const recovery = factor.recovery.filter((one) => one !== proof.recovery);
    return recovery.length === factor.recovery.length
      ? undefined
      : { ...factor, recovery, failures: 0, lockedUntil: 0 };
  }
  if ('passkey' in proof) {
    const { passkeys = [] } = factor;
    const known = passkeys.find(({ id }) => id === proof.passkey);
    // Authenticators that do not count answer 0.
    if (known === undefined || (proof.counter <= known.counter && known.counter > 0)) return undefined;
    const used = { ...known, counter: proof.counter, usedAt: at };
    return { ...factor, passkeys: passkeys.map((one) => (one === known ? used : one)) };
  }
  if (isLocked || proof.counter <= factor.counter) return undefined;
  return { ...factor, counter: proof.counter, failures: 0, lockedUntil: 0 };
}
