import { readFileSync } from 'node:fs';

/** A worker function whose tasks block inside one native call until the writer of a named pipe closes it. */
export function run(pipes: readonly string[]): readonly string[] {
  return pipes.map((pipe) => readFileSync(pipe, 'utf8'));
}
