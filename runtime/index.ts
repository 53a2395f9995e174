/**
 * The public names of the runtime; the drivers of stores and the equipment for tests have entries of their own. A program
 * needs `createRuntime`, `defineActor`, `defineEffect`, `tell`, `note`, `Retryable` and `Fatal`; most other names are types.
 */

export { ActorCalls } from './calls.ts';
export {
  type CreateOptions,
  createRuntime,
  type Runtime,
  type Schedules,
  type StopOptions,
} from './create-runtime.ts';
export type { MarkedEffect } from './effects/crash-journal.ts';
export type { DeadLetter, DeadLetterLimits } from './effects/dead-letters.ts';
export type { HostReport, ShardStatus } from './host/actor-host.ts';
export { LoopUtilisation } from './host/actor-host.ts';
export {
  type Actor,
  type Answer,
  type AnswersOf,
  type AnswerTo,
  type CreateInput,
  defineActor,
  type EventOf,
  type QuestionOf,
  type StateOf,
  type View,
} from './model/actor.ts';
export type { AskOptions, Calls, ListQuery, RowsQuery, WaitOptions } from './model/calls.ts';
export { machineTime, systemClock } from './model/clock.ts';
export {
  type ActorDefinition,
  type ActorView,
  contextOf,
  type EffectAttempt,
  type EffectContext,
  type EffectHandler,
  type HandledEffect,
  type NamedEffect,
  type Unaccepted,
} from './model/definition.ts';
export {
  type DeclaredEffect,
  declareEffect,
  defineEffect,
  dropEffects,
  type Effect,
  type EffectOptions,
  type EffectRun,
  type EffectTerms,
  type EffectWork,
  type NoteParams,
  note,
  type RequestOf,
  type TellParams,
  tell,
} from './model/effects.ts';
export { describeFailure, Fatal, isFatal, isRetryable, Retryable } from './model/failures.ts';
export {
  declareFaultPoints,
  Faults,
} from './model/faults.ts';
export { systemIds } from './model/ids.ts';
export { jsonType } from './model/json.ts';
export type { LeaseDeadline } from './model/lease-deadline.ts';
export type { Activity, AttemptOutcome, Metrics } from './model/metrics.ts';
export { accepted, type Refused, type RefusedAnswer } from './model/outcome.ts';
export type {
  ActorAddress,
  ActorStore,
  AfterQuery,
  Clock,
  Committed,
  EffectKey,
  Ids,
  JournalData,
  JournalLine,
  Json,
  Log,
  LogProperties,
  Millis,
  NodeStatus,
  Revision,
  Row,
  RowQuery,
  Step,
  StoredActor,
  StoredEffect,
  StoreNodes,
  StoreReader,
  StoreSource,
  WorkReader,
} from './model/ports.ts';
export type { RequestAction } from './model/requests.ts';
export type { TraceContext, Tracing } from './model/tracing.ts';
export type { RuntimeSettings } from './runtime.ts';
export type { Followed } from './watch.ts';
