/** The public names of the runtime. */
export type { ActorPage, ActorQuery, ActorSummary } from './actor-pages.ts';
export { SimulatedClock, systemClock } from './clock.ts';
export type {
  ActorDefinition,
  ActorSystem,
  ActorView,
  EffectHandler,
  EffectLanes,
  EffectTry,
  Migration,
  StepOutcome,
  TellOptions,
} from './definition.ts';
export { describeFailure, Fatal, isRetryable, Retryable } from './failures.ts';
export {
  declaredFaultPoints,
  declareFaultPoints,
  type FaultAction,
  type FaultCallback,
  type FaultPoints,
  Faults,
  RUNTIME_FAULT_POINTS,
  type RuntimeFaultPoint,
} from './faults.ts';
export type { ShardLife } from './host.ts';
export { seededIds, systemIds } from './ids.ts';
export type { ActorReport, Inspector, KindReport } from './inspect.ts';
export { checkMachine } from './machine-shape.ts';
export { migrateStore } from './migrate.ts';
export type {
  ActorAddress,
  ActorEvent,
  ActorStore,
  Clock,
  Committed,
  EffectKey,
  Ids,
  JournalLine,
  Json,
  Log,
  LogProperties,
  Millis,
  Revision,
  Row,
  RowQuery,
  Step,
  StoredActor,
  StoredEffect,
  StoredTimer,
} from './ports.ts';
export {
  createRuntime,
  type Runtime,
  type RuntimeOptions,
  type RuntimeParts,
  type ShardOptions,
} from './runtime.ts';
export type { ShardParts } from './shards/wire.ts';
export { firstStep, nextStep, type StepContext } from './step.ts';
export { type LmdbOptions, openLmdbStore } from './store/lmdb.ts';
export { backupLmdbStore } from './store/lmdb-backup.ts';
export { openLmdbReader, type StoreReader } from './store/lmdb-reader.ts';
export { MemoryStore } from './store/memory.ts';
export { folderOwner } from './store/owner.ts';
export type { RestartLimit } from './supervisor.ts';
