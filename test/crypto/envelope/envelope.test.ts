import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { decryptFile, encryptFile, envelopeKey } from '#crypto/envelope/envelope.js';

const folder = mkdtempSync(join(tmpdir(), 'sealwright-envelope-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const PASSWORD = 'correct horse battery staple';
const SALT = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const NONCE = Buffer.from('a0a1a2a3a4a5a6a7a8a9aaab', 'hex');

/** Checked with two independent implementations. Source: docs/batch-values.md §9. */
const VECTORS = [
  {
    iterations: 10_000,
    plain: 'signed bytes',
    key: '7575ec7662917c06306a79bf68d7448508d5a0b210ee1faff46d1424abc26c5e',
    envelope:
      '4253454e4300000001a0a1a2a3a4a5a6a7a8a9aaabb2da367fdd79bb631dc30b82ec06ea1354f91228f64551179b9b70d2',
  },
  {
    iterations: 600_000,
    plain: 'signed bytes',
    key: '613a4c3411394e24fffe6c51994307724572e574bcd98ea8cf457c64899bfbfe',
    envelope:
      '4253454e4300000001a0a1a2a3a4a5a6a7a8a9aaab875ed0d58bce588f3b0debcb19b6552661e0ad99f5b7eb93cfa808c2',
  },
  {
    iterations: 600_000,
    plain: '',
    key: '613a4c3411394e24fffe6c51994307724572e574bcd98ea8cf457c64899bfbfe',
    envelope: '4253454e4300000001a0a1a2a3a4a5a6a7a8a9aaab62560ab54bcba7ad3aaabe3ca23450d9',
  },
];

let files = 0;
function fileWith(content: Uint8Array | string): string {
  files += 1;
  const path = join(folder, `file-${files}`);
  writeFileSync(path, content);
  return path;
}

for (const { iterations, plain, key, envelope } of VECTORS) {
  test(`an envelope of "${plain}" with ${iterations} iterations equals the published one byte for byte`, async (t) => {
    const derived = await envelopeKey(PASSWORD, SALT, iterations);
    t.is(derived.toString('hex'), key);
    const input = fileWith(plain);
    const output = `${input}.enc`;
    const { sha256, length } = encryptFile({ input, output, key: derived, nonce: NONCE });
    const made = readFileSync(output);
    t.is(made.toString('hex'), envelope);
    t.is(length, made.length);
    t.is(sha256, createHash('sha256').update(made).digest('hex'));
    const back = `${input}.back`;
    decryptFile({ input: output, output: back, key: derived });
    t.is(readFileSync(back, 'utf8'), plain);
    t.false(existsSync(`${back}.part`));
  });
}

const KEY = createHash('sha256').update('a key').digest();

/** Decrypts, returns the error, and checks that no file is left behind. */
function refusal(t: { false(value: boolean): unknown }, input: string, key: Uint8Array = KEY): string {
  const output = `${input}.out`;
  try {
    decryptFile({ input, output, key });
  } catch (error) {
    t.false(existsSync(output));
    t.false(existsSync(`${output}.part`));
    return (error as { code: string }).code;
  }
  return 'none';
}

function sealedOf(content: Uint8Array): string {
  const input = fileWith(content);
  encryptFile({ input, output: `${input}.enc`, key: KEY, nonce: NONCE });
  return `${input}.enc`;
}

test('files of about one chunk are decrypted to the original bytes', (t) => {
  for (const size of [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_500_000]) {
    const content = Buffer.alloc(size, `${size} bytes of content; `);
    const input = sealedOf(content);
    decryptFile({ input, output: `${input}.back`, key: KEY });
    t.true(readFileSync(`${input}.back`).equals(content), `${size}`);
    t.is(readFileSync(input).length, size + 37);
  }
});

test('an envelope with any changed byte is refused and leaves no output', (t) => {
  const good = readFileSync(sealedOf(Buffer.from('signed bytes')));
  for (let at = 0; at < good.length; at += 1) {
    const changed = Buffer.from(good);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    t.is(refusal(t, fileWith(changed)), at < 9 ? 'envelope.malformed' : 'envelope.tag', `byte ${at}`);
  }
});

test('a truncated envelope, or one of another key, is refused and leaves no output', (t) => {
  const input = sealedOf(Buffer.alloc(2_000_000, 7));
  t.is(refusal(t, input, Buffer.alloc(32, 1)), 'envelope.tag');
  truncateSync(input, 1_500_000);
  t.is(refusal(t, input), 'envelope.tag');
  truncateSync(input, 36);
  t.is(refusal(t, input), 'envelope.malformed');
  truncateSync(input, 0);
  t.is(refusal(t, input), 'envelope.malformed');
});

test('neither encryption nor decryption overwrites a file', (t) => {
  const input = sealedOf(Buffer.from('x'));
  const taken = fileWith('mine');
  const code = (work: () => unknown) => {
    try {
      work();
    } catch (error) {
      return (error as { code: string }).code;
    }
    return 'none';
  };
  t.is(
    code(() => decryptFile({ input, output: taken, key: KEY })),
    'output.exists',
  );
  t.is(
    code(() => encryptFile({ input, output: taken, key: KEY, nonce: NONCE })),
    'output.exists',
  );
  t.is(readFileSync(taken, 'utf8'), 'mine');
  t.false(readdirSync(folder).some((name) => name.endsWith('.part')));
});
