/** One thread of the bare loop with the minimal work per file; see `bare.ts`. */
import { createHash, createPrivateKey, sign } from 'node:crypto';
import { closeSync, fdatasyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';

const { folder, files, part, of, key, extension } = workerData as {
  folder: string;
  files: number;
  part: number;
  of: number;
  key: string;
  extension: string;
};
const privateKey = createPrivateKey(key);

for (let index = part; index < files; index += of) {
  const name = `document-${index}.${extension}`;
  const content = readFileSync(join(folder, 'in', name));
  const digest = createHash('sha256').update(content).digest();
  const signature = sign('sha256', digest, privateKey);
  const file = openSync(join(folder, 'work', name), 'wx');
  writeSync(file, content);
  writeSync(file, signature);
  fdatasyncSync(file);
  closeSync(file);
  linkSync(join(folder, 'work', name), join(folder, 'out', name));
  unlinkSync(join(folder, 'in', name));
}
