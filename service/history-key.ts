/** The key with which this node signs checkpoints of the history; generated at first start. Source: docs/decisions/0053-tamper-evident-history.md. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Fatal } from '@sealwright/runtime/core';
import type { KeyFolder } from './key-folder.ts';

const HISTORY_FILE = 'history-key';

/** Base64 DER of the PKCS#8 PrivateKeyInfo of an Ed25519 key. @throws {Fatal} `keys.unusable` */
export async function keepHistoryKey(keys: KeyFolder): Promise<KeyObject> {
  const { value, path } = await keys.loadOrCreate(HISTORY_FILE, () =>
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
  );
  try {
    const key = createPrivateKey({ key: Buffer.from(value, 'base64'), type: 'pkcs8', format: 'der' });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Reported below.
  }
  throw new Fatal(
    'keys.unusable',
    `${path} holds no Ed25519 key. Restore it from a backup, or remove it to have a new one made.`,
  );
}
