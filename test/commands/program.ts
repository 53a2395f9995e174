/** Runs the built program as a user would, in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));
/** Runs `runService` around a service that misbehaves on request. */
const STUBBORN = fileURLToPath(new URL('./stubborn-service.js', import.meta.url));

export function freshFolder(): string {
  return mkdtempSync(`${tmpdir()}/sealwright-program-`);
}

export interface Run {
  readonly child: ChildProcess;
  /** Everything on standard output so far. */
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves once standard output matches; rejects when the program ends before. */
  readonly says: (pattern: RegExp) => Promise<void>;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

export function start(
  cwd: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Run {
  return startCommand(process.execPath, cwd, { words: [MAIN, ...words], env });
}

/** Starts the program on a terminal, as a person does (script, of bsdutils). */
export function startOnTerminal(cwd: string, words: readonly string[]): Run {
  const line = [process.execPath, MAIN, ...words].map((word) => `'${word}'`).join(' ');
  return startCommand('script', cwd, { words: ['-qfec', line, '/dev/null'], env: {} });
}

/** @param manner see stubborn-service.ts */
export function startStubborn(manner: string): Run {
  return startScript(STUBBORN, freshFolder(), [manner], {});
}

function startScript(
  script: string,
  cwd: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Run {
  return startCommand(process.execPath, cwd, { words: [script, ...words], env });
}

/** Starts a program with no environment but `PATH` and `env`. */
export function startCommand(
  command: string,
  cwd: string,
  { words, env }: { readonly words: readonly string[]; readonly env: Readonly<Record<string, string>> },
): Run {
  const { PATH = '' } = process.env;
  const child = spawn(command, words, {
    cwd,
    env: { PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end();
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  const says = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (pattern.test(out)) resolve();
      };
      child.stdout.on('data', look);
      look();
      void ended.then((code) =>
        reject(new Error(`ended with ${code} before saying ${pattern}: ${out}${err}`)),
      );
    });
  return { child, out: () => out, err: () => err, says, ended };
}

/** Runs to the end. */
export async function run(cwd: string, words: readonly string[], env?: Readonly<Record<string, string>>) {
  const program = start(cwd, words, env);
  const code = await program.ended;
  return { code, out: program.out(), err: program.err() };
}
