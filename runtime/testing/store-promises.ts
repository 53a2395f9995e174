/** Form of the promises of `ActorStore`, and what their checks share. */
import assert from 'node:assert/strict';
import type { ActorStore, Step, StoredEffect } from '../model/ports.ts';

/** A fresh store, and a way to look at the same data as a new process would. */
export interface StoreUnderTest {
  readonly store: ActorStore;
  /** Closes and opens again; absent where nothing outlives the store. */
  readonly reopen?: () => Promise<ActorStore>;
}

/** One promise that a store keeps. */
export interface StorePromise {
  readonly title: string;
  /** Rejects where the store breaks it. Needs a store without actors; the caller closes it. */
  check(under: StoreUnderTest): Promise<void>;
}

/** A promise whose check needs the store, and seldom what is under it. */
export function promise(
  title: string,
  check: (store: ActorStore, under: StoreUnderTest) => Promise<void>,
): StorePromise {
  return { title, check: (under) => check(under.store, under) };
}

export async function must(store: ActorStore, step: Step): Promise<void> {
  assert.ok((await store.commit(step)).ok, 'the step must be committed');
}

/** An effect as any store gives it: one that several nodes share says that it was taken over. */
export function withoutTakeOver({ isTakenOver: _, ...effect }: StoredEffect): StoredEffect {
  return effect;
}
