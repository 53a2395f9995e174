/** Records what each test process cost. Required by ava in each of its processes. */
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

// `SEALWRIGHT_TEST_TIMES` names a file to which each process adds a line: processor seconds, elapsed seconds, test file.
const times = process.env['SEALWRIGHT_TEST_TIMES'];
if (times !== undefined && process.platform === 'linux') {
  process.on('exit', () => {
    const file = relative(process.cwd(), fileURLToPath(test.meta.file));
    appendFileSync(times, `${processorSeconds().toFixed(2)}\t${process.uptime().toFixed(1)}\t${file}\n`);
  });
}
