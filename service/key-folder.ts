/**
 * Secrets the program makes for itself at first start and keeps: the API key, the keys of sessions, the
 * development certificates.
 * The folder is 0700, each file 0600; a file appears whole or not at all.
 */
import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { Fatal, type Ids } from '../runtime/index.ts';

/** A text that was read back, or made just now. */
export interface KeptSecret {
  readonly value: string;
  readonly made: boolean;
  readonly path: string;
}

export interface KeyFolder {
  readonly path: string;
  /**
   * The text kept under a name; made and stored first when there is none. Two callers get the same text.
   * @throws Fatal `keys.unusable` when it can neither be read nor written
   */
  keep(name: string, make: () => string | Promise<string>): Promise<KeptSecret>;
  /** The text under a name; undefined when there is none. @throws Fatal `keys.unusable` */
  read(name: string): string | undefined;
  /** Puts a text under a name, in place of the one before; durable on return. @throws Fatal `keys.unusable` */
  replace(name: string, text: string): void;
}

/**
 * Opens the folder, making it when needed; its parent must be there.
 * @throws Fatal `keys.unusable`
 */
export function openKeyFolder(path: string, ids: Pick<Ids, 'uuid'>): KeyFolder {
  attempt(path, () => makePrivateFolder(path));
  return {
    path,
    async keep(name, make) {
      const file = join(path, name);
      const kept = attempt(file, () => readKept(file));
      if (kept !== undefined) return { value: kept, made: false, path: file };
      const value = await make();
      const temporary = join(path, `.${name}.${ids.uuid()}`);
      const won = attempt(file, () => {
        writeWhole(temporary, `${value}\n`);
        return publish(temporary, file, path);
      });
      // Somebody else was faster; theirs is the one that counts.
      return won
        ? { value, made: true, path: file }
        : { value: attempt(file, () => readKept(file)) ?? value, made: false, path: file };
    },
    read(name) {
      const file = join(path, name);
      return attempt(file, () => readKept(file));
    },
    replace(name, text) {
      const file = join(path, name);
      const temporary = join(path, `.${name}.${ids.uuid()}`);
      attempt(file, () => {
        try {
          writeWhole(temporary, `${text}\n`);
          renameSync(temporary, file);
        } finally {
          rmSync(temporary, { force: true });
        }
        syncFolder(path);
      });
    },
  };
}

/** Name of the file with the keys that seal sessions. Source: batch-gaps §10, "Key ring". */
export const SESSION_FILE = 'session.json';

/** Name of the API key's file. */
export const API_KEY_FILE = 'api-key';

/** The API key of a service that has none configured: 256 random bits, made once. */
export function keepApiKey(folder: KeyFolder, ids: Pick<Ids, 'bytes'>): Promise<KeptSecret> {
  return folder.keep(API_KEY_FILE, () => ids.bytes(32).toString('base64url'));
}

function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

function readKept(file: string): string | undefined {
  let text: string;
  try {
    if ((statSync(file).mode & 0o077) !== 0) {
      throw new Fatal(
        'keys.unusable',
        `${file} can be read by other users. Allow its owner only: chmod 600 '${file}'.`,
      );
    }
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
  if (text === '') throw new Fatal('keys.unusable', `${file} is empty. Remove it to have a new one made.`);
  return text;
}

function writeWhole(file: string, text: string): void {
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Gives the file its name unless the name is taken. True when this one got it. */
function publish(temporary: string, file: string, folder: string): boolean {
  try {
    linkSync(temporary, file);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  syncFolder(folder);
  return true;
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function attempt<Result>(path: string, task: () => Result): Result {
  try {
    return task();
  } catch (error) {
    if (error instanceof Fatal) throw error;
    const code = String((error as { code?: unknown }).code ?? 'unknown');
    throw new Fatal(
      'keys.unusable',
      `${path} cannot be used (${code}). The program keeps its own keys there.`,
    );
  }
}
