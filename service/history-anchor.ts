/** Anchors of the history in the folder of keys. Source: docs/decisions/0053-tamper-evident-history.md. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AnchoredCheckpoint,
  createCheckpointSigner,
  type HistoryAnchor,
  parseAnchor,
} from '@sealwright/runtime/history';
import { storageLayout } from '../actors/index.ts';
import type { Settings } from '../settings.ts';
import { HISTORY_FILE, type KeyFolder, parseHistoryKey } from './key-folder.ts';

/** Beginning of the names of their files; the newest has no more, others were set aside. */
export const ANCHOR_FILE = 'history-anchor';

/** Keeps the newest checkpoint of the history beside the keys, outside of the store. */
export function historyAnchor(keys: KeyFolder): HistoryAnchor {
  return {
    read: () => keys.read(ANCHOR_FILE),
    keep: (text) => keys.replace(ANCHOR_FILE, text),
    setAside(text) {
      const mark = createHash('sha256').update(text).digest('hex').slice(0, 16);
      keys.replace(`${ANCHOR_FILE}-${mark}`, text);
    },
  };
}

/** Anchors and nodes that are kept outside of the store, for a verification of its history. */
export function keptBesideHistory({ storage }: Settings): {
  readonly anchors: () => readonly AnchoredCheckpoint[];
  readonly nodes: readonly string[];
} {
  const { keys } = storageLayout(storage.root);
  const file = join(storage.keysPath, HISTORY_FILE);
  const key = existsSync(file) ? parseHistoryKey(readFileSync(file, 'utf8').trim()) : undefined;
  return {
    anchors: () => readAnchors(keys),
    nodes: key === undefined ? [] : [createCheckpointSigner(key).node],
  };
}

/** Reads all anchors in a folder of keys; none where there is no folder. */
function readAnchors(path: string): readonly AnchoredCheckpoint[] {
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((name) => name.startsWith(ANCHOR_FILE))
    .flatMap((name) => parseAnchor(readFileSync(join(path, name), 'utf8')) ?? []);
}
