/** Histories that nobody can change unseen: checkpoints, proofs, their verification. */

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
export { erasureOf } from './history/erasure.ts';
export { HistoryPacker, type RestingStates } from './history/packer.ts';
export { type HistoryProof, HistoryProofs, isProven } from './history/proof.ts';
export { HistorySealer } from './history/sealer.ts';
export { type HistoryReport, verifyHistory } from './history/verify-history.ts';
