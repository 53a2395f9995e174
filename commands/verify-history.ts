/**
 * `sealwright verify-history`: verifies the hash chains and checkpoints of the history, and names the first entry that is
 * not as it was written. The service may be running. Source: docs/decisions/0053-tamper-evident-history.md.
 */
import { readFileSync } from 'node:fs';
import {
  type Checkpoint,
  type HistoryReport,
  parseCheckpoint,
  verifyHistory,
} from '@sealwright/runtime/history';
import { ACTOR_KINDS, storageLayout } from '../actors/index.ts';
import { readAnchors } from '../service/history-anchor.ts';
import { openReader } from '../service/open-store.ts';
import type { Settings } from '../settings.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

export interface VerifyHistoryWords {
  /** Files with checkpoints that were kept elsewhere. */
  readonly copies: readonly string[];
  readonly json: boolean;
}

/** 0 when the history is whole, 1 when an entry is not, 2 when a file with copies cannot be used. */
export async function verifyHistoryCommand(
  settings: Settings,
  { copies: files, json }: VerifyHistoryWords,
  terminal: Pick<Terminal, 'out' | 'err'>,
): Promise<ExitCode> {
  try {
    const copies = files.flatMap((file) => checkpointsIn(readFileSync(file, 'utf8')));
    if (files.length > 0 && copies.length === 0) {
      terminal.err('sealwright verify-history: the files of --copy hold no checkpoint.\n');
      return EXIT.refused;
    }
    const store = await openReader(settings);
    try {
      const { keys } = storageLayout(settings.storage.root);
      const report = await verifyHistory(store, {
        kinds: ACTOR_KINDS,
        copies,
        anchors: () => readAnchors(keys),
      });
      const ok = report.fault === undefined;
      terminal.out(
        json
          ? `${JSON.stringify({ ok, ...report, copies: copies.length }, null, 2)}\n`
          : reportText(report, copies.length),
      );
      return ok ? EXIT.good : EXIT.failed;
    } finally {
      await store.close();
    }
  } catch (error) {
    terminal.err(`sealwright verify-history: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitCodeOf(error);
  }
}

function reportText(report: HistoryReport, copies: number): string {
  const { actors, lines, checkpoints, leaves, uncovered, fault } = report;
  const compared =
    (copies === 0 ? '' : ` ${copies} copies of checkpoints agree.`) +
    (uncovered === 0 ? '' : ` No checkpoint covers the state of ${uncovered} actors yet.`);
  if (fault === undefined)
    return `The history is whole: ${lines} lines of ${actors} actors, ${leaves} leaves of ${checkpoints} checkpoints.${compared}\n`;
  return `The history was changed. The first broken entry: ${fault.entry}. ${fault.problem}\nCompare with a backup or with copies of checkpoints (--copy), and keep this store for an investigation.\n`;
}

/** Way in which a line of the log holds a checkpoint: as JSON inside of a JSON string. */
const LOGGED = /\bCheckpoint"?:\s?("(?:[^"\\]|\\.)*")/;

/** One checkpoint per line: in the form of the webhook, of the log, or alone. Other lines are ignored. */
function checkpointsIn(text: string): Checkpoint[] {
  return text.split('\n').flatMap((line) => {
    try {
      const logged = LOGGED.exec(line)?.[1];
      const value = JSON.parse(logged === undefined ? line : JSON.parse(logged)) as {
        readonly checkpoint?: unknown;
      } | null;
      const found = parseCheckpoint(value?.checkpoint) ?? parseCheckpoint(value);
      return found === undefined ? [] : [found];
    } catch {
      return [];
    }
  });
}
