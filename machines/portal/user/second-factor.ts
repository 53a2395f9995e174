/**
 * The second factor of a user: an authenticator app with recovery codes, and the limit of wrong codes. Only who has passed
 * the first factor can enter codes, so nobody else locks a user out; recovery codes work in spite of the lock.
 *
 * Source: docs/identity.md.
 */
import type { Millis } from '../../ids.ts';

/** Recovery codes of a user. */
export const RECOVERY_CODES = 10;
/** Wrong codes in a row before codes of the app are refused for a time. */
const FREE_FAILURES = 5;
const MINUTE = 60_000;
/** Longest lock; each further wrong code doubles it up to here. */
const MAX_LOCK = 60 * MINUTE;

export interface SecondFactor {
  /** Secret of the app, encrypted. */
  readonly totp: string;
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

/** A code that the service has checked: its counter, or the digest of a recovery code. Null: the code was wrong. */
export type FactorProof = { readonly counter: number } | { readonly recovery: string } | null;

export function newFactor(
  { totp, counter, recovery }: Pick<SecondFactor, 'totp' | 'counter' | 'recovery'>,
  at: Millis,
): SecondFactor {
  return { totp, counter, recovery, since: at, failures: 0, lockedUntil: 0 };
}

/** The factor after a proof; undefined = not accepted: locked, or a code that was used. */
export function afterProof(factor: SecondFactor, proof: FactorProof, at: Millis): SecondFactor | undefined {
  const isLocked = factor.lockedUntil > at;
  if (proof === null) {
    if (isLocked) return undefined;
    const failures = factor.failures + 1;
    const beyond = failures - FREE_FAILURES;
    const lock = beyond < 0 ? 0 : Math.min(MAX_LOCK, MINUTE * 2 ** beyond);
    return { ...factor, failures, lockedUntil: at + lock };
  }
  if ('recovery' in proof) {
    const recovery = factor.recovery.filter((one) => one !== proof.recovery);
    return recovery.length === factor.recovery.length
      ? undefined
      : { ...factor, recovery, failures: 0, lockedUntil: 0 };
  }
  if (isLocked || proof.counter <= factor.counter) return undefined;
  return { ...factor, counter: proof.counter, failures: 0, lockedUntil: 0 };
}
