/** The public names of the runtime. */

export type { ShardStatus } from './actor-host.ts';
export { machineTime, SimulatedClock, systemClock } from './clock.ts';
export { DeferredSystem } from './deferred-system.ts';
export {
  type ActorDefinition,
  type ActorKind,
  type ActorSystem,
  type ActorView,
  actorKind,
  type CommittedActor,
  type ContextOf,
  contextOf,
  defineActor,
  type EffectAttempt,
  type EffectContext,
  type EffectHandler,
  type InputOf,
  type MessageOf,
  type StepOutcome,
  type Unaccepted,
} from './definition.ts';
export { describeFailure, Fatal, isRetryable, Retryable } from './failures.ts';
export {
  declaredFaultPoints,
  declareFaultPoints,
  Faults,
  RUNTIME_FAULT_POINTS,
  type RuntimeFaultPoint,
} from './faults.ts';
export {
  CHECKPOINT,
  CHECKPOINTS_VIEW,
  type Checkpoint,
  checkpointHash,
  createCheckpointSigner,
  type HistoryProof,
  HistoryProofs,
  type HistoryReport,
  HistorySealer,
  isProven,
  lineHash,
  parseCheckpoint,
  STAMPS_VIEW,
  UNSENT_VIEW,
  verifyHistory,
} from './history/index.ts';
export { seededIds, systemIds } from './ids.ts';
export type { ActorPage, ActorQuery, ActorSummary } from './inspection/actor-pages.ts';
export type { ActorReport, KindReport } from './inspection/inspect.ts';
export { LoopUtilisation } from './inspection/loop-utilisation.ts';
export type { MachineChart } from './inspection/machine-chart.ts';
export { jsonType } from './json-type.ts';
export { assertStorable } from './machine-shape.ts';
export { migrateStore } from './migrate.ts';
export type { LeaseDeadline } from './model/lease-deadline.ts';
export type {
  ActorAddress,
  ActorStore,
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
} from './ports.ts';
export { createRuntime, type Runtime, type RuntimeOptions, type ShardOptions } from './runtime.ts';
export type { ShardModule } from './shards/wire.ts';
export { firstStep, nextStep } from './step.ts';
export type { CopySide } from './store/copy/copy-side.ts';
export { type CopyPhase, type CopyReport, copyStore } from './store/copy/copy-store.ts';
export { openLmdbStore } from './store/lmdb/lmdb.ts';
export { backupLmdbStore } from './store/lmdb/lmdb-backup.ts';
export { assertSound, noteBackup } from './store/lmdb/lmdb-check.ts';
export { openLmdbCopy } from './store/lmdb/lmdb-copy.ts';
export { openLmdbReader, type StoreReader } from './store/lmdb/lmdb-reader.ts';
export { folderOwner } from './store/lmdb/owner.ts';
export { MemoryDatabase } from './store/memory/memory-database.ts';
export { type Link, openMemoryNode } from './store/memory/memory-node.ts';
export { MemoryStore } from './store/memory/memory-store.ts';
export { openPostgresCopy } from './store/postgres/postgres-copy.ts';
export { openPostgresReader, openPostgresStore } from './store/postgres/postgres-store.ts';
