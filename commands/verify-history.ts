/**
 * `sealwright verify-history`: verifies the hash chains and checkpoints of the history, and names the first entry that is
 * not as it was written. The service may be running. Source: docs/decisions/0053-tamper-evident-history.md.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { jsonType, type StoreReader, systemClock, systemIds } from '@sealwright/runtime';
import {
  type Checkpoint,
  type HistoryReport,
  parseCheckpoint,
  verifyHistory,
} from '@sealwright/runtime/history';
import { ACTOR_KINDS, rowsOfActor } from '../actors/index.ts';
import type { JobContext } from '../machines/batch/job-context.ts';
import { keptBesideHistory } from '../service/history-anchor.ts';
import { openObjects } from '../service/open-objects.ts';
import { openReader } from '../service/open-store.ts';
import type { Settings } from '../settings.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

export interface VerifyHistoryWords {
  /** Files with checkpoints that were kept elsewhere. */
  readonly copies: readonly string[];
  readonly json: boolean;
  /** Compares the stored files with the digests that the history covers, too. */
  readonly files: boolean;
}

/** Stored files, compared with their digests. */
interface FileReport {
  readonly agreeing: number;
  /** Outputs that somebody has moved from the output folder, which is permitted. */
  readonly gone: number;
  /** The first file with other content: its path below `Storage:Root`, or its key in the bucket. */
  readonly changed: string | undefined;
}

/** 0 when the history is whole, 1 when an entry is not, 2 when a file with copies cannot be used. */
export async function verifyHistoryCommand(
  settings: Settings,
  { copies: files, json, files: comparesFiles }: VerifyHistoryWords,
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
      const stored = comparesFiles ? await compareFiles(store, await filesOf(settings)) : undefined;
      const report = await verifyHistory(store, {
        kinds: ACTOR_KINDS,
        rowsOf: rowsOfActor,
        copies,
        ...keptBesideHistory(settings),
      });
      const ok = report.fault === undefined && stored?.changed === undefined;
      terminal.out(
        json
          ? `${JSON.stringify({ ok, ...report, copies: copies.length, ...(stored && { files: stored }) }, null, 2)}\n`
          : reportText(report, copies.length) + (stored ? filesText(stored) : ''),
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

/**
 * Compares each published output and each file of the portal with its SHA-256: that of an output is in the state of its
 * job, which checkpoints cover; that of a file of the portal is its name, which documents name.
 */
async function compareFiles(store: StoreReader, files: StoredFiles): Promise<FileReport> {
  let agreeing = 0;
  let gone = 0;
  const compare = async (name: string, sha256: string): Promise<boolean> => {
    const found = await digestOf(files, name);
    if (found === undefined) gone += 1;
    else if (found === sha256) agreeing += 1;
    return found === undefined || found === sha256;
  };
  let after: string | undefined;
  for (;;) {
    const jobs = await store.actors({ kind: 'job', limit: PAGE_SIZE, ...(after !== undefined && { after }) });
    for (const { context } of jobs) {
      const { outputFileName, output: published, signed } = JOB_CONTEXT.read(context);
      const digest = published ?? signed;
      if (outputFileName === null || digest === null) continue;
      const name = join(files.outputs, outputFileName);
      if (!(await compare(name, digest.sha256))) return { agreeing, gone, changed: name };
    }
    const next = jobs.at(-1)?.address.id;
    if (jobs.length < PAGE_SIZE || next === undefined || next === after) break;
    after = next;
  }
  for await (const name of files.blobs()) {
    const sha256 = basename(name);
    if (!/^[0-9a-f]{64}$/.test(sha256)) continue;
    if (!(await compare(name, sha256))) return { agreeing, gone, changed: name };
  }
  return { agreeing, gone, changed: undefined };
}

/** Files by their names below `Storage:Root`, or by their keys in the bucket. */
interface StoredFiles {
  /** Begins the names of outputs. */
  readonly outputs: string;
  /** Undefined when it is gone. */
  read(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Names of the files of the portal; each ends with its digest. */
  blobs(): AsyncIterable<string>;
}

async function filesOf(settings: Settings): Promise<StoredFiles> {
  const objects = await openObjects(settings, { clock: systemClock, ids: systemIds });
  if (objects !== undefined)
    return {
      outputs: 'batch/output',
      read: async (key) => (await objects.get(key))?.stream,
      async *blobs() {
        let next: string | undefined;
        do {
          const page: Awaited<ReturnType<typeof objects.list>> = await objects.list('blobs/', next);
          for (const { key } of page.objects) yield key;
          next = page.next;
        } while (next !== undefined);
      },
    };
  const { root } = settings.storage;
  return {
    outputs: 'output',
    async read(name) {
      const path = join(root, name);
      return existsSync(path) ? createReadStream(path) : undefined;
    },
    async *blobs() {
      const folder = join(root, 'portal', 'blobs');
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []))
        if (entry.isFile()) yield relative(root, join(entry.parentPath, entry.name));
    },
  };
}

/** Actors read at once. */
const PAGE_SIZE = 256;

/** State of a job, as its steps store it. */
const JOB_CONTEXT = jsonType<JobContext>();

/** Lower-case hex SHA-256; undefined for a file that is not there. */
async function digestOf(files: StoredFiles, name: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    const bytes = await files.read(name);
    if (bytes === undefined) return undefined;
    for await (const chunk of bytes) hash.update(chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return hash.digest('hex');
}

function filesText({ agreeing, gone, changed }: FileReport): string {
  if (changed !== undefined)
    return `The file ${changed} is not the one whose SHA-256 is stored. Compare with a backup, and keep it for an investigation.\n`;
  return `${agreeing} stored files have the SHA-256 of the history${gone === 0 ? '' : `; ${gone} outputs are no longer in the output folder`}.\n`;
}

const UNCHAINED =
  'have lines without hashes: a program before the history had chains wrote them, or somebody put them into the store.';

/** A restored backup and a node that never ran the history have no anchor either. */
const NO_ANCHOR =
  ' The folder of keys has no anchor of the history: it was removed, or this is a restored or copied store. Without it, the removal of the newest checkpoints is not seen; compare with copies of checkpoints (--copy).';

function reportText(report: HistoryReport, copies: number): string {
  const { actors, lines, checkpoints, leaves, uncovered, unchained, anchored, fault } = report;
  const { erased, erasedFrom } = report;
  const compared =
    (copies === 0 ? '' : ` ${copies} copies of checkpoints agree.`) +
    (uncovered === 0 ? '' : ` No checkpoint covers the state of ${uncovered} actors yet.`) +
    (unchained === 0 ? '' : ` ${unchained} actors ${UNCHAINED}`) +
    (erased === 0
      ? ''
      : ` The texts of ${erased} lines were erased, as recorded: ${erasedFrom.join(', ')}.`) +
    (anchored ? '' : NO_ANCHOR);
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
