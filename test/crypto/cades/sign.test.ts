import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { signCades } from '#crypto/cades/sign.js';
import { verifyCades } from '#crypto/cades/verify.js';
import type {
  DigestName,
  SignFileRequest,
  VerificationReport,
  VerifyFileRequest,
} from '#crypto/core/types.js';
import { certificatePem } from '#crypto/x509/certificate.js';
import { type KeyKind, keyPemOf, pki } from '../../pki/pki.ts';
import { opensslCms, opensslCmsPrint, runTool, withTools } from '../../verifiers/index.ts';

const toolTest = withTools(test, 'openssl');

const AT = Date.now();
const folder = mkdtempSync(join(tmpdir(), 'sealwright-cades-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

function file(bytes?: Uint8Array): string {
  const path = join(folder, `file-${++files}`);
  if (bytes !== undefined) writeFileSync(path, bytes);
  return path;
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function request(input: string, kind: KeyKind = 'rsa-2048', digest?: DigestName): SignFileRequest {
  return {
    format: 'Cades',
    input,
    output: file(),
    signer: pki().signer(kind),
    at: AT,
    ...(digest === undefined ? {} : { digest }),
  };
}

function verify(path: string, more: Partial<VerifyFileRequest> = {}): VerificationReport {
  return verifyCades({ format: 'Cades', path, at: AT, anchors: [pki().root.certificate], ...more });
}

function failed(report: VerificationReport): string[] {
  return report.checks.filter(({ ok }) => !ok).map(({ name }) => name);
}

/** Bytes that differ at every place and length. */
function bytes(length: number): Buffer {
  const content = Buffer.alloc(length);
  for (let at = 0; at < length; at++) content[at] = (at * 31 + (at >> 8)) & 0xff;
  return content;
}

toolTest('openssl returns the content of files of every size, signed with RSA and ECDSA', async (t) => {
  // Around every length that takes one more octet, and around the limit for reading in chunks.
  const sizes = [1, 127, 128, 255, 256, 65_535, 65_536, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_000_001];
  for (const kind of ['rsa-2048', 'p-256'] as const) {
    for (const size of sizes) {
      const input = file(bytes(size));
      const signing = request(input, kind);
      const signed = signCades(signing);
      t.deepEqual(signed.output, { sha256: sha256(signing.output), length: statSync(signing.output).size });
      t.is(signed.input.sha256, sha256(input));
      t.is(signed.input.length, size);
      t.is(signed.input.mtimeMs, statSync(input).mtimeMs);
      const out = file();
      const verdict = await opensslCms({ signature: signing.output, ca: pki().rootFile, out });
      t.true(verdict.ok, `${kind} ${size}: ${verdict.text}`);
      t.true(readFileSync(out).equals(readFileSync(input)));
      const report = verify(signing.output, { content: signed.input, signer: signing.signer.fingerprint });
      t.deepEqual(failed(report), []);
      t.true(report.ok);
      t.is(report.signatures, 1);
    }
  }
});

toolTest('every supported key and digest signs small and large files', async (t) => {
  for (const kind of ['rsa-3072', 'p-384', 'p-521'] as const) {
    for (const [size, digest] of [
      [500, 'sha384'],
      [1_100_000, 'sha512'],
      [1_100_000, 'sha384'],
    ] as const) {
      const signing = request(file(bytes(size)), kind, digest);
      const signed = signCades(signing);
      const verdict = await opensslCms({ signature: signing.output, ca: pki().rootFile });
      t.true(verdict.ok, `${kind} ${digest} ${size}: ${verdict.text}`);
      t.deepEqual(failed(verify(signing.output, { content: signed.input })), []);
    }
  }
});

toolTest('signing-time and the other attributes of the baseline are signed', async (t) => {
  const signing = request(file(bytes(100)));
  signCades(signing);
  const printed = await opensslCmsPrint(signing.output);
  for (const attribute of [
    /contentType/,
    /messageDigest/,
    /signingTime/,
    /signingCertificateV2|9\.16\.2\.47/,
  ]) {
    t.regex(printed, attribute);
  }
});

toolTest('one changed byte of the content fails in the engine and in openssl', async (t) => {
  for (const size of [2000, 1_100_000]) {
    const signing = request(file(bytes(size)), 'p-256');
    signCades(signing);
    const changed = readFileSync(signing.output);
    changed[Math.floor(size / 2)] = (changed[Math.floor(size / 2)] ?? 0) ^ 1;
    const path = file(changed);
    const verdict = await opensslCms({ signature: path, ca: pki().rootFile });
    t.false(verdict.ok);
    t.is(verdict.exit, 4);
    t.deepEqual(failed(verify(path)), ['message-digest']);
  }
});

toolTest('a signer below another CA fails in the engine and in openssl', async (t) => {
  const signing = { ...request(file(bytes(100))), signer: pki().untrustedSigner() };
  signCades(signing);
  t.false((await opensslCms({ signature: signing.output, ca: pki().rootFile })).ok);
  t.deepEqual(failed(verify(signing.output)), ['chain']);
});

toolTest('a file that is CMS already is signed like any other file', async (t) => {
  const inner = request(file(bytes(5000)));
  signCades(inner);
  const outer = request(inner.output, 'p-256');
  signCades(outer);
  const out = file();
  t.true((await opensslCms({ signature: outer.output, ca: pki().rootFile, out })).ok);
  t.true(readFileSync(out).equals(readFileSync(inner.output)));
  t.deepEqual(failed(verify(out)), []);
});

toolTest(
  'the engine verifies files of openssl: streamed with indefinite lengths, with PSS, with a key identifier',
  async (t) => {
    const signer = pki().signer('rsa-2048');
    const key = file(Buffer.from(signer.key.keyObject.export({ type: 'pkcs8', format: 'pem' })));
    const certificate = file(
      Buffer.from(
        `-----BEGIN CERTIFICATE-----\n${signer.certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
      ),
    );
    for (const [size, extra] of [
      [10_000, ['-stream']],
      [1_500_000, ['-stream']],
      [10_000, ['-stream', '-keyid']],
      // openssl 3.0 can't stream PSS.
      [10_000, ['-keyopt', 'rsa_padding_mode:pss']],
    ] as const) {
      const output = file();
      const made = await runTool('openssl', [
        'cms',
        '-sign',
        '-cades',
        '-binary',
        '-nodetach',
        '-md',
        'sha384',
        '-outform',
        'DER',
        '-in',
        file(bytes(size)),
        '-signer',
        certificate,
        '-inkey',
        key,
        '-certfile',
        pki().issuingFile,
        '-out',
        output,
        ...extra,
      ]);
      t.is(made.exit, 0, made.stderr);
      t.is(readFileSync(output)[1] === 0x80, (extra as readonly string[]).includes('-stream'));
      const report = verify(output, { signer: signer.fingerprint });
      t.deepEqual(failed(report), [], JSON.stringify(report.checks));
      const changed = readFileSync(output);
      changed[size >> 1] = (changed[size >> 1] ?? 0) ^ 1;
      t.deepEqual(failed(verify(file(changed))), ['message-digest']);
    }
  },
);

toolTest('both signers in one file are checked, and either may be the expected one', async (t) => {
  const known = pki().signer('rsa-2048');
  const untrustedSigner = pki().untrustedSigner();
  const named = [known, untrustedSigner].flatMap(({ certificate, key: { keyObject } }) => [
    '-signer',
    file(Buffer.from(certificatePem(certificate))),
    '-inkey',
    file(Buffer.from(keyPemOf(keyObject))),
  ]);
  const output = file();
  const made = await runTool('openssl', [
    'cms',
    '-sign',
    '-cades',
    '-binary',
    '-nodetach',
    '-outform',
    'DER',
    '-out',
    output,
    '-in',
    file(bytes(500)),
    '-certfile',
    pki().issuingFile,
    ...named,
  ]);
  t.is(made.exit, 0, made.stderr);
  const anchors = [pki().root.certificate, pki().otherRoot.certificate];
  for (const { fingerprint } of [known, untrustedSigner]) {
    const report = verify(output, { anchors, signer: fingerprint });
    t.deepEqual(failed(report), []);
    t.is(report.signatures, 2);
  }
  t.deepEqual(failed(verify(output, { anchors, signer: pki().signer('p-256').fingerprint })), ['signer']);
  t.deepEqual(failed(verify(output)), ['chain']);
});

test('bytes after the end, and missing bytes at the end, make the file unreadable', (t) => {
  const signing = request(file(bytes(1000)));
  signCades(signing);
  const good = readFileSync(signing.output);
  t.deepEqual(failed(verify(file(Buffer.concat([good, Buffer.from([0])])))), ['structure']);
  t.deepEqual(failed(verify(file(good.subarray(0, -1)))), ['structure']);
});

test('a file cut at any byte never passes and never throws', (t) => {
  const signing = request(file(bytes(40)), 'p-256');
  signCades(signing);
  const good = readFileSync(signing.output);
  const path = file();
  for (let length = 0; length < good.length; length++) {
    writeFileSync(path, good.subarray(0, length));
    t.false(verify(path).ok);
  }
});

toolTest('a file with any header gets a report', async (t) => {
  const signing = request(file(bytes(40)), 'p-256');
  signCades(signing);
  const samples = [readFileSync(signing.output)];
  const plain = file();
  const repacked = await runTool('openssl', [
    'cms',
    '-cmsout',
    '-inform',
    'DER',
    '-in',
    signing.output,
    '-stream',
    '-indef',
    '-outform',
    'DER',
    '-out',
    plain,
  ]);
  if (repacked.exit === 0) samples.push(readFileSync(plain));
  const path = file();
  for (const sample of samples) {
    const places = [
      ...Array(100).keys(),
      ...Array.from({ length: 20 }, (_, back) => sample.length - 1 - back),
    ];
    for (const at of places) {
      for (const value of [0x00, 0x24, 0x30, 0x80, 0x84, 0xff]) {
        const changed = Buffer.from(sample);
        if (changed[at] === value) continue;
        changed[at] = value;
        writeFileSync(path, changed);
        const { ok } = verify(path, { content: { sha256: sha256(signing.input), length: 40 } });
        // What passes still holds the same content and the same signature; only announcements may differ.
        t.true(!ok || at < 64);
      }
    }
  }
});

toolTest('a detached signature is not accepted where the content must be inside', async (t) => {
  const { buildSignedData } = await import('#crypto/cms/build.js');
  const der = buildSignedData({
    signer: pki().signer('p-256'),
    digest: 'sha256',
    messageDigest: createHash('sha256').digest(),
    signingTime: AT,
  });
  t.deepEqual(failed(verify(file(der))), ['enveloping', 'message-digest']);
});

/**
 * Runs lines of a module in a separate process, with `signCades`, `verifyCades` and `pki` in scope; returns its
 * output.
 */
function inProcess(script: string, limits = 'true'): string {
  const url = (path: string) => JSON.stringify(import.meta.resolve(path));
  const imports = `
    import { signCades } from ${url('#crypto/cades/sign.js')};
    import { verifyCades } from ${url('#crypto/cades/verify.js')};
    import { pki } from ${url('../../pki/pki.js')};`;
  return execFileSync(
    'sh',
    [
      '-c',
      `${limits}; exec "$0" --input-type=module -e "$1"`,
      process.execPath,
      `${imports} void verifyCades; ${script}`,
    ],
    { encoding: 'utf8', timeout: 60_000 },
  ).trim();
}

test('a full disk leaves no output behind', (t) => {
  // No file system of our own to fill: the limit on file size gives the same refusal in the middle of a write.
  const input = file(bytes(4 << 20));
  const output = file();
  const code = inProcess(
    `process.on('SIGXFSZ', () => {});
    const signer = pki().signer('p-256');
    const [input, output] = ${JSON.stringify([input, output])};
    try {
      signCades({ format: 'Cades', input, output, signer, at: Date.now() });
      console.log('signed');
    } catch (error) { console.log(error.code); }`,
    'ulimit -f 2048',
  );
  t.is(code, 'output.unwritable');
  t.false(existsSync(output));
});

test('lengths above 4 GiB are written exactly', async (t) => {
  const { envelope } = await import('#crypto/cades/envelope.js');
  const { readHeader } = await import('#crypto/asn1/ber-reader.js');
  const size = 5 * 2 ** 30 + 12_345;
  const signer = pki().signer('rsa-2048');
  const { head, tail } = envelope({ signer, digest: 'sha256', at: AT }, size, Buffer.alloc(32));
  const outer = readHeader(head, 0, head.length);
  t.is(outer.headerLength + outer.length, head.length + size + tail.length);
  const last = readHeader(head, head.length - 7, head.length);
  t.deepEqual([last.tag, last.length], [0x04, size]);
});

test('a 64 MB file is signed and verified in a few megabytes', (t) => {
  const input = file();
  const piece = bytes(1 << 20);
  const fd = openSync(input, 'w');
  for (let megabyte = 0; megabyte < 64; megabyte++) {
    piece.writeUInt32BE(megabyte, 0);
    writeSync(fd, piece);
  }
  const small = file(bytes(100));
  const outputs = [file(), file()];
  const peaks = JSON.parse(
    inProcess(`
    const signer = pki().signer('p-256');
    const at = Date.now();
    const outputs = ${JSON.stringify(outputs)};
    const peaks = ${JSON.stringify([small, input])}.map((input, index) => {
      const output = outputs[index];
      const { input: content } = signCades({ format: 'Cades', input, output, signer, at });
      const { ok } = verifyCades({ format: 'Cades', path: output, content, at });
      return ok ? process.resourceUsage().maxRSS : 0;
    });
    console.log(JSON.stringify(peaks));`),
  ) as [number, number];
  t.true(peaks[0] > 0 && peaks[1] > 0);
  // Kilobytes: the peak of a process that signed 64 MB, above that of one that signed nothing of note.
  t.true(peaks[1] - peaks[0] < 24 << 10, `${(peaks[1] - peaks[0]) >> 10} MiB more`);
  t.true(statSync(outputs[1] ?? '').size > 64 << 20);
});
