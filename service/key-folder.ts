/**
 * Secrets that the program generates at first start and stores: the API key, the keys of sessions, the development
 * certificates. The folder is 0700, each file 0600; files are created atomically.
 */
import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
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
import { basename, dirname, join } from 'node:path';
import type { ActorStore } from '@sealwright/runtime';
import { Fatal, type Ids, type StoreNodes } from '@sealwright/runtime/core';

/** A stored or newly generated text. */
export interface StoredSecret {
  readonly value: string;
  readonly made: boolean;
  readonly path: string;
}

export interface KeyFolder {
  readonly path: string;
  /**
   * Returns the text under a name; generates and stores it when missing. Concurrent callers get the same text.
   * @throws Fatal `keys.unusable` when it can neither be read nor written
   */
  loadOrCreate(name: string, make: () => string | Promise<string>): Promise<StoredSecret>;
  /** Returns the text that was last stored under a name; undefined when there is none. @throws Fatal `keys.unusable` */
  read(name: string): string | undefined;
  /** Replaces the text under a name; durable on return. @throws Fatal `keys.unusable` */
  replace(name: string, text: string): void;
}

/**
 * Opens the folder, creating it when needed; its parent must exist.
 * @param changing folder of what is replaced; another one where `path` may be read-only
 * @throws Fatal `keys.unusable`
 */
export function openKeyFolder(path: string, ids: Pick<Ids, 'uuid'>, changing: string = path): KeyFolder {
  for (const folder of new Set([path, changing])) attempt(folder, () => makePrivateFolder(folder));
  return {
    path,
    async loadOrCreate(name, make) {
      const file = join(path, name);
      const kept = attempt(file, () => readStored(file));
      if (kept !== undefined) return { value: kept, made: false, path: file };
      const value = await make();
      const temporary = join(path, `.${name}.${ids.uuid()}`);
      const won = attempt(file, () => {
        if (isReadOnly(path))
          throw new Fatal(
            'keys.unusable',
            `${file} is not there, and Storage:KeysPath is read-only. Start one node with a writable folder, and give all nodes the files that it makes.`,
          );
        try {
          writeWhole(temporary, `${value}\n`);
          return publish(temporary, file, path);
        } finally {
          rmSync(temporary, { force: true });
        }
      });
      // Another process was faster; its text is used.
      return won
        ? { value, made: true, path: file }
        : { value: attempt(file, () => readStored(file)) ?? value, made: false, path: file };
    },
    read(name) {
      const stored = (folder: string) => attempt(join(folder, name), () => readStored(join(folder, name)));
      return stored(changing) ?? (changing === path ? undefined : stored(path));
    },
    replace(name, text) {
      const file = join(changing, name);
      const temporary = join(changing, `.${name}.${ids.uuid()}`);
      attempt(file, () => {
        try {
          writeWhole(temporary, `${text}\n`);
          renameSync(temporary, file);
        } finally {
          rmSync(temporary, { force: true });
        }
        syncFolder(changing);
      });
    },
  };
}

/** Name of the file with the session keys. Source: docs/batch-values.md §10. */
export const SESSION_FILE = 'session.json';
/** Files in which earlier versions kept ended sessions, and named API keys with hashes of their secrets. */
export const ENDED_SESSIONS_FILE = 'ended-sessions.json';
export const NAMED_KEYS_FILE = 'named-keys.json';

/** Name of the API key's file. */
export const API_KEY_FILE = 'api-key';

/** Returns the API key of a service without a configured one: 256 random bits, generated once. */
export function loadOrCreateApiKey(folder: KeyFolder, ids: Pick<Ids, 'bytes'>): Promise<StoredSecret> {
  return folder.loadOrCreate(API_KEY_FILE, () => ids.bytes(32).toString('base64url'));
}

/**
 * Returns the key that encrypts passwords of uploads at rest, and from which the nodes of a store derive the keys of
 * sessions: 256 random bits, Base64url, generated once.
 */
function keepJobSecret(folder: KeyFolder, ids: Pick<Ids, 'bytes'>): Promise<StoredSecret> {
  return folder.loadOrCreate('job-secret', () => ids.bytes(32).toString('base64url'));
}

/** The same as bytes. */
export async function jobSecretBytes(folder: KeyFolder, ids: Pick<Ids, 'bytes'>): Promise<Buffer> {
  return Buffer.from((await keepJobSecret(folder, ids)).value, 'base64url');
}

function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
    syncFolder(dirname(path));
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch {
    return true;
  }
}

function readStored(file: string): string | undefined {
  let text: string;
  try {
    // A mounted secret belongs to root, and the group of the service may read it.
    const { mode, uid } = statSync(file);
    if ((mode & (uid === process.getuid?.() ? 0o077 : 0o037)) !== 0) {
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

/** Links the file under its name unless the name is taken. True when this process created it. */
function publish(temporary: string, file: string, folder: string): boolean {
  try {
    linkSync(temporary, file);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false;
    throw error;
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
    const why =
      code === 'ENOSPC' || code === 'EDQUOT'
        ? `cannot be written: its disk is full (${code}). Free some space on it, and start again.`
        : `cannot be used (${code}). The program keeps its own keys there.`;
    throw new Fatal('keys.unusable', `${path} ${why}`);
  }
}

export const HISTORY_FILE = 'history-key';

function storedHistoryKey(keys: KeyFolder): Promise<StoredSecret> {
  return keys.loadOrCreate(HISTORY_FILE, () =>
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
  );
}

/** Undefined for a text that is no Base64 DER of the PKCS#8 PrivateKeyInfo of an Ed25519 key. */
export function parseHistoryKey(text: string): KeyObject | undefined {
  try {
    const key = createPrivateKey({ key: Buffer.from(text, 'base64'), type: 'pkcs8', format: 'der' });
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Base64 DER of the PKCS#8 PrivateKeyInfo of an Ed25519 key. @throws {Fatal} `keys.unusable` */
export async function keepHistoryKey(keys: KeyFolder): Promise<KeyObject> {
  const { value, path } = await storedHistoryKey(keys);
  const key = parseHistoryKey(value);
  if (key !== undefined) return key;
  throw new Fatal(
    'keys.unusable',
    `${path} holds no Ed25519 key. Restore it from a backup, or remove it to have a new one made.`,
  );
}

/** Name of the file with the key of links and of stored secrets of the portal. */
export const SECRET_FILE = 'portal-secret';

export function keepPortalSecret(folder: KeyFolder, ids: Pick<Ids, 'bytes'>): Promise<StoredSecret> {
  return folder.loadOrCreate(SECRET_FILE, () => ids.bytes(32).toString('base64url'));
}

/** Begins the hash of each key that all nodes must have in common, by name. */
export type KeyMarks = Readonly<Record<string, string>>;

/** Loads or makes the keys without which a node cannot read what others store. */
export async function markKeys(
  keys: KeyFolder,
  ids: Pick<Ids, 'bytes'>,
  { hasPortal, hasApiKey }: { hasPortal: boolean; hasApiKey: boolean },
): Promise<KeyMarks> {
  const secret = await keepJobSecret(keys, ids);
  const kept = [secret, await storedHistoryKey(keys)];
  if (hasPortal) kept.push(await keepPortalSecret(keys, ids));
  if (!hasApiKey) kept.push(await loadOrCreateApiKey(keys, ids));
  return Object.fromEntries(
    kept.map(({ path, value }) => [basename(path), markOf(secret.value, basename(path), value)]),
  );
}

/** With the key of the first: who reads the database cannot try weak texts of the others. */
function markOf(key: string, name: string, text: string): string {
  return createHmac('sha256', key).update(`sealwright ${name} ${text}`).digest('hex').slice(0, 16);
}

/**
 * Compares the keys of this node with those of the running nodes that were there before it. One that is silent for its
 * lease may be gone with its disk; it would be listed until a node has run for a lease.
 * @throws {Fatal} `keys.differ`
 */
export async function refuseOtherKeys(
  nodes: Pick<StoreNodes, 'list'> | undefined,
  own: KeyMarks,
  path: string,
): Promise<void> {
  const all = (await nodes?.list()) ?? [];
  const session = all.find(({ isThis }) => isThis)?.session ?? 0;
  const running = all.filter(({ silentMs, leaseSeconds }) => silentMs < leaseSeconds * 1000);
  for (const node of running.filter((other) => other.session < session)) {
    const { keys } = (node.info ?? {}) as { readonly keys?: KeyMarks };
    const name = Object.keys(own).find((key) => keys?.[key] !== undefined && keys[key] !== own[key]);
    if (name === undefined) continue;
    throw new Fatal(
      'keys.differ',
      `${join(path, name)} is not the ${name} of the node ${node.name}. Give all nodes the same keys: copy the folder of keys of that node, or mount it (Storage:KeysPath).`,
    );
  }
}

/** Of these, each process that writes organizations has made one before. */
const KEYS_OF_STORE = [HISTORY_FILE, 'job-secret', SECRET_FILE];

/**
 * Refuses to make new keys beside a store with organizations: links that were mailed, and stored secrets, need the old ones,
 * and what is stored meanwhile would need the new ones. Call it before one is made. Nodes make theirs before they open the
 * store, and compare them.
 * @throws {Fatal} `keys.missing`
 */
export async function refuseLostKeys(
  store: Pick<ActorStore, 'names' | 'nodes'>,
  keys: Pick<KeyFolder, 'path'>,
): Promise<void> {
  // Not `read`, which also finds what an earlier start without Storage:KeysPath has left below Storage:Root: keys are made where
  // `loadOrCreate` looks for them.
  if (store.nodes !== undefined || KEYS_OF_STORE.some((name) => existsSync(join(keys.path, name)))) return;
  const [first] = await store.names({ after: 'organization:', limit: 1 });
  if (first?.name.startsWith('organization:') !== true) return;
  throw new Fatal(
    'keys.missing',
    `${keys.path} has no keys, and the store was used with some. Mount the folder, or put it back from a backup (Storage:KeysPath). If it is lost, so is what needs it, such as mailed links and stored secrets; to go on without, write 43 random letters and digits to ${join(keys.path, SECRET_FILE)}, readable for the service alone.`,
  );
}
