/** Records what each test process cost, and each file that takes its turn in one. Required by ava in each of its processes. */
import type { EventEmitter } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

/** Processor time of this process and of its ended children, in seconds. Source: proc(5), `/proc/pid/stat`, fields 14 to 17 in ticks of 10 ms. */
function processorSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

function record(path: string, processor: number, elapsed: number, file: string): void {
  appendFileSync(path, `${processor.toFixed(2)}\t${elapsed.toFixed(1)}\t${file}\n`);
}

// `SEALWRIGHT_TEST_TIMES` names a file to which each process adds a line: processor seconds, elapsed seconds, test file.
// The files of a process that take turns (scripts/named-tests.mjs) are in `<file>.files`; the first one includes what the process loads.
const times = process.env['SEALWRIGHT_TEST_TIMES'];
if (times !== undefined && process.platform === 'linux') {
  process.on('exit', () => {
    const file = relative(process.cwd(), fileURLToPath(test.meta.file));
    record(times, processorSeconds(), process.uptime(), file);
  });
  let processor = 0;
  let elapsed = 0;
  (process as EventEmitter).on('test-file-ended', (file: string) => {
    const ended = { processor: processorSeconds(), elapsed: process.uptime() };
    record(`${times}.files`, ended.processor - processor, ended.elapsed - elapsed, file);
    processor = ended.processor;
    elapsed = ended.elapsed;
  });
}
