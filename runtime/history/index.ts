export { lineHash } from './chain.ts';
export {
  CHECKPOINT,
  CHECKPOINTS_VIEW,
  type Checkpoint,
  type CheckpointSigner,
  checkpointHash,
  createCheckpointSigner,
  parseCheckpoint,
  STAMPS_VIEW,
  UNSENT_VIEW,
} from './checkpoint.ts';
export { type HistoryProof, HistoryProofs, isProven } from './proof.ts';
export { HISTORY_KIND, HistorySealer, type HistorySealerOptions } from './sealer.ts';
export { type HistoryFault, type HistoryReport, verifyHistory } from './verify.ts';
