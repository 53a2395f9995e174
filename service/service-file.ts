/**
 * The file beside the store's lock that says where the running service listens, for commands on the same machine.
 *
 * Source: docs/operations.md, "Commands that talk to the service".
 */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock, Log } from '@sealwright/runtime';
import { ownMark, type ProcessMark, runs } from '@sealwright/runtime/core';
import { nodeFolderName, storageLayout } from '../actors/shared/files/storage-layout.ts';
import type { Settings } from '../settings.ts';

/** Information that a running service writes about itself. URLs are those of the sockets, with their real ports. */
export interface ServiceFile {
  readonly process: ProcessMark;
  /** Value of `X-Run-Id` in the answers to `GET /api/health`: made anew at each start. */
  readonly runId: string;
  readonly batchUrl: string | null;
  readonly portalUrl: string | null;
}

/** Returns the node name of this process in a shared database. Source: docs/configuration.md, `Runtime:NodeName`. */
export function nodeName({ runtime, batch }: Settings): string {
  return runtime.nodeName ?? `${hostname()}:${batch.url.port}`;
}

const NAME = /^service(?:\.[^/]+)?\.json$/;

/** Pause between tries to write the file, milliseconds. */
const RETRY_PAUSE_MS = 10_000;

/**
 * Writes the file; returns the function that removes it. A disk that takes no file now is tried again until it does:
 * until then commands ask the configured address.
 */
export function writeServiceFile(
  settings: Settings,
  facts: Omit<ServiceFile, 'process'>,
  { clock, log }: { clock: Clock; log: Log },
): () => void {
  const path = join(storageLayout(settings.storage.root).db, fileName(settings));
  const temporary = `${path}.${process.pid}`;
  const text = `${JSON.stringify({ process: ownMark(), ...facts }, null, 2)}\n`;
  let cancel = () => {};
  const write = (isFirst: boolean) => {
    try {
      writeFileSync(temporary, text);
      renameSync(temporary, path);
    } catch (error) {
      if (isFirst)
        log.warn('The file that names the addresses of this service cannot be written', {
          Path: path,
          Error: String(error),
        });
      cancel = clock.after(RETRY_PAUSE_MS, () => write(false));
    }
  };
  write(true);
  return () => {
    cancel();
    rmSync(path, { force: true });
    rmSync(temporary, { force: true });
  };
}

/**
 * Finds the service that runs on this machine and this root. Files of dead processes and of other machines do not count.
 * @param isOwnNode no other node answers for a node of this configuration whose process has died
 */
export function readServiceFile(settings: Settings, isOwnNode = false): ServiceFile | undefined {
  const { db } = storageLayout(settings.storage.root);
  const own = parsed(join(db, fileName(settings)));
  if (isOwnNode && own !== undefined && !runs(own.process)) return undefined;
  // Of several nodes on this machine, the one with the name in this configuration comes first.
  for (const name of [fileName(settings), ...namesIn(db).filter((one) => NAME.test(one))]) {
    const found = parsed(join(db, name));
    if (found !== undefined && runs(found.process)) return found;
  }
  return undefined;
}

/** Nodes with one store may share the folder. */
function fileName(settings: Settings): string {
  return settings.runtime.store === 'lmdb'
    ? 'service.json'
    : `service.${nodeFolderName(nodeName(settings))}.json`;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function parsed(path: string): ServiceFile | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ServiceFile;
  } catch {
    return undefined;
  }
}
