/** The public names of the runtime; the drivers of stores and the equipment for tests have entries of their own. */

export { type AnchoredCheckpoint, type HistoryAnchor, parseAnchor } from './history/anchor.ts';
export {
  CHECKPOINT,
  CHECKPOINTS_VIEW,
  type Checkpoint,
  checkpointHash,
  createCheckpointSigner,
  lineHash,
  parseCheckpoint,
  STAMPS_VIEW,
  UNSENT_VIEW,
} from './history/checkpoint.ts';
export { type HistoryProof, HistoryProofs, isProven } from './history/proof.ts';
export { HistorySealer } from './history/sealer.ts';
export { type HistoryReport, verifyHistory } from './history/verify.ts';
export type { ShardStatus } from './host/actor-host.ts';
export { LoopUtilisation } from './host/actor-host.ts';
export type { ActorPage, ActorQuery, ActorSummary } from './inspection/actor-pages.ts';
export type { ActorReport, KindReport } from './inspection/inspect.ts';
export type { MachineChart } from './inspection/machine-chart.ts';
export { machineTime, systemClock } from './model/clock.ts';
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
} from './model/definition.ts';
export { describeFailure, Fatal, isRetryable, Retryable } from './model/failures.ts';
export {
  declaredFaultPoints,
  declareFaultPoints,
  Faults,
  RUNTIME_FAULT_POINTS,
  type RuntimeFaultPoint,
} from './model/faults.ts';
export { systemIds } from './model/ids.ts';
export { jsonType } from './model/json.ts';
export type { LeaseDeadline } from './model/lease-deadline.ts';
export { assertStorable } from './model/machine-shape.ts';
export { accepted, durable, durableIfAccepted, type Refused } from './model/outcome.ts';
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
  StoreReader,
} from './model/ports.ts';
export { createRuntime, DeferredSystem, type Runtime, type RuntimeOptions } from './runtime.ts';
export type { ShardOptions } from './shards/sharded-host.ts';
export type { ShardModule } from './shards/wire.ts';
export { migrateStore } from './step/migrate.ts';
export { firstStep, nextStep } from './step/step.ts';
export type { CopySide } from './store/copy/copy-side.ts';
export { type CopyPhase, type CopyReport, copyStore } from './store/copy/copy-store.ts';
