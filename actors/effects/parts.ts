/** What the handlers of a job's effects share: their parts, their types, and how a failure becomes a message. */
import type { JobEffect, JobEvent } from '../../machines/job-context.ts';
import type { SystemEventContext } from '../../machines/system-event.ts';
import { type Clock, type EffectHandler, type EffectTry, Fatal, type Log } from '../../runtime/index.ts';
import type { CertificateChecks } from '../certificate-checks.ts';
import type { DiskSync } from '../disk-sync.ts';
import type { SigningPool } from '../pool/pool.ts';
import type { PoolAnswer, PoolResults } from '../pool/tasks.ts';
import type { RemoteSigning } from '../remote-signing.ts';
import type { StorageLayout } from '../storage-layout.ts';

export interface HandlerParts {
  readonly pool: SigningPool;
  /** Asked before each signature. */
  readonly certificates?: Pick<CertificateChecks, 'check'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly remote: RemoteSigning;
  /** Keeps an event under an id; a second one of that id changes nothing. */
  readonly record: (event: SystemEventContext, id: string) => Promise<void>;
  readonly disk: DiskSync;
  readonly layout: Pick<StorageLayout, 'processing' | 'output'>;
  /** `Storage:OutputCollision`. */
  readonly outputCollision: 'suffix' | 'fail';
}

type EffectNamed<Name extends JobEffect['do']> = Extract<JobEffect, { readonly do: Name }>;

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;
/** A message to a job; the host adds the time. */
export type JobMessage = WithoutTime<JobEvent>;

/** The outcome of work that no job waits for: it settles the effect and changes nothing. */
export const NOTHING_TO_TELL = { type: 'NOTHING' } as const;

/** A handler of one of a job's effects. */
export interface JobHandler<Name extends JobEffect['do']> extends EffectHandler<EffectNamed<Name>> {
  run(effect: EffectNamed<Name>, attempt: EffectTry): Promise<JobMessage | typeof NOTHING_TO_TELL>;
  failed?(
    effect: EffectNamed<Name>,
    failure: { readonly code: string; readonly message: string },
  ): JobMessage;
}

/** The pool's result; its failure is thrown and ends the try for good. */
export function answerOf<Name extends keyof PoolResults>(answer: PoolAnswer<Name>): PoolResults[Name] {
  if (answer.ok) return answer.result;
  throw new Fatal(answer.code, answer.message);
}

/** Milliseconds as they are kept with a job: a hundredth is more than anybody reads. */
export function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}

/** Any failure of signing or releasing fails the job. Source: batch document, "Processing | any failure". */
export function jobFailed(
  _: unknown,
  failure: { readonly code: string; readonly message: string },
): JobMessage {
  return { type: 'FAIL', code: failure.code, message: failure.message };
}
