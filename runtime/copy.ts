/** Copies of stores, from one engine to another. */

export type { CopySide } from './store/copy/copy-side.ts';
export { type CopyPhase, type CopyReport, copyStore } from './store/copy/copy-store.ts';
