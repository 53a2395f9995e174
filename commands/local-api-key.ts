/** The API key of the service that runs on this machine with this configuration. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { storageLayout } from '../actors/index.ts';
import { API_KEY_FILE } from '../service/key-folder.ts';
import type { Settings } from '../settings.ts';

/** The configured API key, else the one the service made for itself; empty when there is neither. */
export function localApiKey({ auth, storage }: Settings): string {
  if (auth.apiKey !== undefined) return auth.apiKey;
  try {
    return readFileSync(join(storageLayout(storage.root).keys, API_KEY_FILE), 'utf8').trim();
  } catch {
    return '';
  }
}
