/** Writes, syncs and renames small uploads, on the thread that `upload-thread.ts` starts. */
import { closeSync, fdatasync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { FileStamp } from '../../../machines/batch/job-context.ts';
import { DiskSync } from '../../shared/files/disk-sync.ts';
import { UPLOAD_MODE } from '../../shared/files/storage-layout.ts';
import type { FromUploadThread, SystemFault, ToUploadThread, UploadThreadData } from './upload-thread.ts';

const disk = new DiskSync();

function faultOf(error: unknown): SystemFault {
  const { code = 'EIO', syscall = '' } = error as NodeJS.ErrnoException;
  return { code, syscall };
}

/** Writes the file and starts its sync. Resolves with the answer; never rejects. */
function store(
  memory: SharedArrayBuffer,
  { path, at, length }: ToUploadThread['stored'][number],
): Promise<FileStamp | SystemFault> {
  let file: number | undefined;
  try {
    const opened = openSync(path, 'wx', UPLOAD_MODE);
    file = opened;
    const bytes = new Uint8Array(memory, at, length);
    for (let written = 0; written < length; ) written += writeSync(opened, bytes, written, length - written);
    return new Promise((resolve) => {
      fdatasync(opened, (error) => {
        try {
          if (error !== null) throw error;
          const { size, mtimeMs } = fstatSync(opened);
          resolve({ size, mtimeMs });
        } catch (fault) {
          resolve(faultOf(fault));
        } finally {
          closeSync(opened);
        }
      });
    });
  } catch (error) {
    if (file !== undefined) closeSync(file);
    return Promise.resolve(faultOf(error));
  }
}

/** Syncs the folders of files that were just created. Returns the fault by folder. */
async function syncFolders(paths: readonly string[]): Promise<ReadonlyMap<string, SystemFault>> {
  const faults = new Map<string, SystemFault>();
  const folders = [...new Set(paths.map((path) => dirname(path)))];
  await Promise.all(
    folders.map((folder) =>
      disk.directory(folder).catch((error: unknown) => void faults.set(folder, faultOf(error))),
    ),
  );
  return faults;
}

async function storeAll(
  memory: SharedArrayBuffer,
  files: ToUploadThread['stored'],
): Promise<readonly (FileStamp | SystemFault)[]> {
  const stored = files.map((file) => store(memory, file));
  const [answers, faults] = await Promise.all([
    Promise.all(stored),
    syncFolders(files.map(({ path }) => path)),
  ]);
  if (faults.size === 0) return answers;
  return answers.map((answer, n) => faults.get(dirname(files[n]?.path ?? '')) ?? answer);
}

function rename({ from, to }: ToUploadThread['renamed'][number]): SystemFault | null {
  try {
    renameSync(from, to);
    return null;
  } catch (error) {
    return faultOf(error);
  }
}

if (parentPort !== null) {
  const { memory } = workerData as UploadThreadData;
  const answer = (message: FromUploadThread) => parentPort?.postMessage(message);
  let messages = 0;
  parentPort.on('message', ({ stored, renamed }: ToUploadThread) => {
    messages += 1;
    const message = messages;
    // First: their requests wait for nothing else.
    if (renamed.length > 0) answer({ is: 'renamed', answers: renamed.map(rename) });
    if (stored.length > 0)
      void storeAll(memory, stored).then((answers) => answer({ is: 'stored', message, answers }));
  });
}
