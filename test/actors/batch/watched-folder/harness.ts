/** A watched folder on a real disk with the real clock, and the offers it makes. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#runtime/model/clock.js';
import type { Log, LogProperties } from '#runtime/model/ports.js';
import {
  type Candidate,
  createWatchedFolder,
  type OfferResult,
  type WatchedFolder,
  type WatchedFolderSettings,
  type WatchedFolderState,
} from '../../../../actors/batch/watched-folder/index.ts';

export interface Line {
  readonly level: string;
  readonly text: string;
  readonly properties: LogProperties;
}

export interface Harness {
  /** Holds the watched folder and whatever is moved into it. */
  readonly base: string;
  readonly folder: string;
  readonly offers: Candidate[];
  readonly lines: Line[];
  readonly states: WatchedFolderState[];
  readonly watched: WatchedFolder;
  /** Decides each answer; may be replaced at any time. */
  answer: (candidate: Candidate) => OfferResult | Promise<OfferResult>;
  at(fileName: string): string;
  put(fileName: string, content?: string): void;
  /** Written beside the folder and renamed into it, as a careful writer does. */
  putWhole(fileName: string, content?: string): void;
  namesOffered(): string[];
  /** Resolves when the condition holds; looked at after each offer, log line and state. */
  until(condition: () => boolean): Promise<void>;
  /**
   * Resolves when everything that happened in the folder before this call has been dealt with: a file made now
   * has gone all the way to its offer, and then a second one, since the last steps of files close together may
   * overtake each other.
   */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface HarnessOptions {
  readonly missing?: boolean;
  /** @default 'input' */
  readonly folderName?: string;
  /** `base` of another harness, for a second watcher of its folder. */
  readonly base?: string;
  /** An existing folder in place of one below `base`. */
  readonly path?: string;
  readonly settings?: Partial<WatchedFolderSettings>;
}

const SETTINGS: WatchedFolderSettings = {
  stability: { intervalMs: 50, requiredSamples: 2, timeoutMs: 60_000 },
  concurrency: 64,
  ignoredExtensions: ['.tmp', '.part', '.crdownload', '.swp'],
  ignoredPrefixes: ['.', '~$'],
  sweepIntervalMs: 60_000,
  missingRetryMs: 50,
};

const MARKER = 'marker-';

export function createHarness({
  missing = false,
  folderName = 'input',
  base = mkdtempSync(join(tmpdir(), 'sealwright-watch-')),
  path,
  settings = {},
}: HarnessOptions = {}): Harness {
  const folder = path ?? join(base, folderName);
  if (!missing && path === undefined) mkdirSync(folder, { recursive: true });
  let waits: { readonly condition: () => boolean; readonly resolve: () => void }[] = [];
  let markers = 0;

  function look(): void {
    const met = waits.filter((wait) => wait.condition());
    waits = waits.filter((wait) => !met.includes(wait));
    for (const wait of met) wait.resolve();
  }
  function write(level: string): (text: string, properties?: LogProperties) => void {
    return (text, properties = {}) => {
      harness.lines.push({ level, text, properties });
      look();
    };
  }
  const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const marked = new Set<string>();

  const harness: Harness = {
    base,
    folder,
    offers: [],
    lines: [],
    states: [],
    watched: createWatchedFolder({
      name: 'inbox',
      path: folder,
      settings: { ...SETTINGS, ...settings },
      clock: systemClock,
      log,
      async offer(candidate) {
        if (candidate.fileName.startsWith(MARKER)) {
          marked.add(candidate.fileName);
          look();
          return 'enqueued';
        }
        harness.offers.push(candidate);
        try {
          return await harness.answer(candidate);
        } finally {
          look();
        }
      },
      onState(state) {
        harness.states.push(state);
        look();
      },
    }),
    answer: () => 'enqueued',
    at: (fileName) => join(folder, fileName),
    put(fileName, content = 'content') {
      writeFileSync(join(folder, fileName), content);
    },
    putWhole(fileName, content = 'content') {
      writeFileSync(join(base, 'being-written'), content);
      renameSync(join(base, 'being-written'), join(folder, fileName));
    },
    namesOffered: () => harness.offers.map((offer) => offer.fileName).sort(),
    until(condition) {
      if (condition()) return Promise.resolve();
      return new Promise((resolve) => waits.push({ condition, resolve }));
    },
    async settled() {
      for (let turn = 0; turn < 2; turn += 1) {
        markers += 1;
        const marker = `${MARKER}${markers}`;
        harness.put(marker);
        await harness.until(() => marked.has(marker));
      }
    },
    async close() {
      await harness.watched.stop();
      rmSync(base, { recursive: true, force: true });
    },
  };
  return harness;
}
