/** Description of the environment of a result: machine, versions, commit, date. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

export interface BenchEnvironment {
  /** ISO 8601, UTC. */
  readonly date: string;
  /** Commit of the sources, with `+` when they have local changes; `unknown` in an installed copy. */
  readonly commit: string;
  readonly version: string;
  readonly node: string;
  readonly machine: {
    readonly cpu: string;
    readonly threads: number;
    /** MiB. */
    readonly memory: number;
    /** Such as `linux 6.1.0 x64`. */
    readonly system: string;
  };
  /** Versions of Node's components and of packages, by name. */
  readonly versions: { readonly [name: string]: string };
}

const PARTS = ['openssl', 'v8', 'uv'] as const;

/** @param now milliseconds since the epoch */
export function circumstances(now: number): BenchEnvironment {
  const packageJson = readPackage();
  const [cpu] = cpus();
  return {
    date: new Date(now).toISOString(),
    commit: commit(),
    version: packageJson.version,
    node: process.version,
    machine: {
      cpu: cpu?.model.trim() ?? 'unknown',
      threads: cpus().length,
      memory: Math.round(totalmem() / 2 ** 20),
      system: `${process.platform} ${release()} ${process.arch}`,
    },
    versions: {
      ...Object.fromEntries(PARTS.map((part) => [part, process.versions[part] ?? 'unknown'])),
      ...packageJson.dependencies,
    },
  };
}

const HOME = fileURLToPath(new URL('../../..', import.meta.url));

function readPackage(): { version: string; dependencies: { readonly [name: string]: string } } {
  return JSON.parse(readFileSync(`${HOME}package.json`, 'utf8'));
}

function commit(): string {
  const git = (...words: string[]) => spawnSync('git', ['-C', HOME, ...words], { encoding: 'utf8' });
  const { status, stdout } = git('rev-parse', '--short', 'HEAD');
  if (status !== 0) return 'unknown';
  const changed = git('status', '--porcelain', '--untracked-files=no').stdout.trim() !== '';
  return `${stdout.trim()}${changed ? '+' : ''}`;
}
