import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import test from 'ava';
import { openSource } from '#crypto/core/files.js';
import { readDirectory } from '#crypto/zip/zip-directory.js';
import { memberSource } from '#crypto/zip/zip-member.js';
import { ZipWriter } from '#crypto/zip/zip-writer.js';
import { runTool, withTools } from '../../verifiers/index.ts';
import { facts, file, made, NOW, remade } from '../asic/container-harness.ts';

const toolTest = withTools(test, 'python3');

/** Creates a sparse file in the writer's format without the bytes of the large member. */
function sparseZip(size: number): string {
  const path = file(undefined, 'zip');
  const fd = openSync(path, 'w');
  let at = 0;
  const writer = new ZipWriter(
    {
      write(...parts) {
        for (const part of parts) {
          // Only chunks of the large member have this length.
          if (part.length !== CHUNK_BYTES.length) writeSync(fd, part, 0, part.length, at);
          at += part.length;
        }
      },
    },
    NOW,
  );
  function* pieces(): Generator<Buffer> {
    for (let left = size; left >= CHUNK_BYTES.length; left -= CHUNK_BYTES.length) yield CHUNK_BYTES;
  }
  writer.add({ name: 'large', size, crc32: 0 }, pieces());
  writer.add({ name: 'small.txt', size: 6, crc32: crc32('Hello\n') }, [Buffer.from('Hello\n')]);
  writer.finish();
  ftruncateSync(fd, at);
  closeSync(fd);
  return path;
}

const CHUNK_BYTES = Buffer.alloc(1 << 20);

toolTest.serial(
  'members beyond four gigabytes are written so that other programs and the engine find the later ones',
  async (t) => {
    const size = 5 * 2 ** 30;
    const path = sparseZip(size);
    t.true(statSync(path).size > size);
    const source = openSource(path);
    const { entries } = readDirectory(source);
    t.deepEqual(
      entries.map(({ name, header }) => [name, header.size]),
      [
        ['large', size],
        ['small.txt', 6],
      ],
    );
    const [, small] = entries;
    t.is(small && memberSource(source, small).read(0, 100).toString(), 'Hello\n');
    source.close();
    const script =
      'import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); print(z.getinfo("large").file_size, z.read("small.txt"))';
    t.is((await runTool('python3', ['-c', script, path])).stdout.trim(), `${size} b'Hello\\n'`);
  },
);

toolTest.serial('more members than a short directory can count are written and read', async (t) => {
  const parts: Uint8Array[] = [];
  const writer = new ZipWriter({ write: (...more) => parts.push(...more) }, NOW);
  const count = 0xffff + 1;
  for (let index = 0; index < count; index++) {
    writer.add({ name: `${index}`, size: 0, crc32: 0 }, []);
  }
  writer.finish();
  const path = file(Buffer.concat(parts), 'zip');
  const source = openSource(path);
  // The number exceeds the limit of a container.
  t.throws(() => readDirectory(source), { message: /65536 members/ });
  source.close();
  const script = 'import sys,zipfile; print(len(zipfile.ZipFile(sys.argv[1]).infolist()))';
  t.is((await runTool('python3', ['-c', script, path])).stdout.trim(), `${count}`);
});

toolTest.serial('files of other programs are read, with data descriptors and deflated members', async (t) => {
  const path = file(undefined, 'zip');
  const script = `
import sys, zipfile
class Unseekable:
    def __init__(self, f): self.f = f
    def write(self, b): return self.f.write(b)
    def flush(self): self.f.flush()
with open(sys.argv[1], 'wb') as f, zipfile.ZipFile(Unseekable(f), 'w') as z:
    z.writestr('stored.txt', b'Stored\\n' * 3, zipfile.ZIP_STORED)
    z.writestr('deflated.txt', b'Deflated\\n' * 300, zipfile.ZIP_DEFLATED)
    with z.open('long.txt', 'w', force_zip64=True) as m: m.write(b'Long\\n')
    z.writestr('folder/', b'')
`;
  const { exit, stderr } = await runTool('python3', ['-c', script, path]);
  t.is(exit, 0, stderr);
  t.true(readFileSync(path).includes('PK\x07\x08'));
  const source = openSource(path);
  const { entries } = readDirectory(source);
  const texts = entries.map((entry) => memberSource(source, entry).read(0, 10_000).toString());
  t.deepEqual(texts, ['Stored\n'.repeat(3), 'Deflated\n'.repeat(300), 'Long\n', '']);
  source.close();
});

test.serial('containers with any bytes changed are read without an exception', async (t) => {
  const whole = [
    await made('E', 'Cades', { level: 'LTA' }),
    remade(await made('S', 'Xades'), (members) => members.map((one) => ({ ...one, deflate: true }))),
  ].map((path) => readFileSync(path));
  // Pseudo-random sequence with a fixed seed.
  let state = 1;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const path = file();
  for (let round = 0; round < 400; round++) {
    const original = whole[round % 2] ?? Buffer.alloc(0);
    const from = next(4) === 0 ? next(original.length) : 0;
    const changed = Buffer.from(original.subarray(from, next(8) === 0 ? next(original.length) : undefined));
    // Mostly near the directory, since readers start there.
    const focus = next(2) === 0 ? Math.max(changed.length - 700, 0) : 0;
    for (let count = next(6); count > 0 && changed.length > focus; count--) {
      changed[focus + next(changed.length - focus)] = next(256);
    }
    writeFileSync(path, changed);
    t.notThrows(() => facts(path), `round ${round}`);
  }
});
