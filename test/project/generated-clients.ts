/** Generates clients and runs programs that use them. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import { freshFolder, start } from '../commands/program.ts';

export const PROGRAMS = resolve('test/project/clients');

/** Tools of each client beside the generator. */
export const CLIENT_TOOLS = {
  python: ['java', 'python3'],
  java: ['java'],
  php: ['java', 'php'],
  go: ['java', 'go'],
  csharp: ['java', 'mcs'],
} as const;

/** Generates into a folder, and resolves with it. The wait for the generator is minutes on a busy machine. */
export async function generated(t: ExecutionContext, language: keyof typeof CLIENT_TOOLS): Promise<string> {
  t.timeout(900_000, 'a generator that loads a JVM for each client, and a compiler');
  const out = freshFolder();
  await promisify(execFile)(process.execPath, ['scripts/clients.mjs', language, '--out', out], {
    maxBuffer: 1e8,
  });
  return out;
}

/** Runs a program with the address and key of a fresh service, and a file to sign. */
export async function smoke(command: string, words: readonly string[], env: object = {}): Promise<string> {
  const cwd = freshFolder();
  const service = start(cwd, ['--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0']);
  try {
    await service.says(/\[INF\] Ready/);
    const { batchUrl } = JSON.parse(readFileSync(join(cwd, 'data/db/service.json'), 'utf8')) as {
      batchUrl: string;
    };
    const file = join(cwd, 'hello.txt');
    writeFileSync(file, 'hello');
    const BATCH_KEY = readFileSync(join(cwd, 'data/keys/api-key'), 'utf8').trim();
    const { stdout } = await promisify(execFile)(command, [...words, file], {
      env: { ...process.env, BATCH_URL: batchUrl, BATCH_KEY, ...env },
      timeout: 240_000,
    });
    return stdout;
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
  }
}
