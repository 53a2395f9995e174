/** Several profiles in one service: each with its own certificate, form of output and encryption. */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decryptFile, type SignatureFormat, validateFile } from '@sealwright/signatures';
import test from 'ava';
import { envelopeKey } from '#crypto/envelope/envelope.js';
import { samplePdf } from '../../../bench/samples.ts';
import { pki, type TestSigner } from '../../pki/pki.ts';
import { opensslCms, withTools } from '../../verifiers/index.ts';
import { Service, temporaryRoot } from '../service.ts';
import { localProfile } from './profiles.ts';

const toolTest = withTools(test, 'openssl');

const SALT = Buffer.alloc(32, 9).toString('base64');
const PASSWORD = 'nobody will guess this one';

/** The certificates that signed a file; each signature must be whole. */
async function signersOf(format: SignatureFormat, path: string, content?: string): Promise<string[]> {
  const report = await validateFile({
    format,
    path,
    ...(content !== undefined && { content }),
    trust: { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' },
    at: Date.now(),
  });
  if (report.indication !== 'TOTAL-PASSED') throw new Error(JSON.stringify(report, null, 1));
  return report.signatures.map(({ certificate }) => certificate?.thumbprint ?? 'none');
}

const thumbprint = ({ fingerprint }: TestSigner) => Buffer.from(fingerprint, 'hex').toString('base64');

toolTest.serial(
  'each profile signs with its own certificate, in its configured form and under its configured name',
  async (t) => {
    const root = await temporaryRoot(t);
    const rsa = pki().signer('rsa-2048');
    const ec = pki().signer('p-256');
    const large = pki().signer('p-384');
    const service = await Service.start(t, {
      root,
      settings: {
        ...(await localProfile(root, 0, {
          name: 'contracts',
          signer: rsa,
          members: { Format: 'Pades', 'Pades:Reason': 'Agreed' },
        })),
        ...(await localProfile(root, 1, {
          name: 'invoices',
          signer: ec,
          members: { Format: 'Xades', PreserveFileExtension: false },
        })),
        ...(await localProfile(root, 2, {
          name: 'plain',
          signer: large,
          members: {
            Format: 'Cades',
            PreserveFileExtension: false,
            DigestAlgorithm: 'SHA384',
          },
        })),
        ...(await localProfile(root, 3, {
          name: 'pem',
          signer: ec,
          members: {
            Format: 'Cades',
            SaveAsPem: true,
            PreserveFileExtension: false,
          },
        })),
        ...(await localProfile(root, 4, {
          name: 'beside',
          signer: rsa,
          members: {
            Format: 'Cades',
            Detached: true,
            IncludeChain: true,
          },
        })),
        ...(await localProfile(root, 5, {
          name: 'blind',
          signer: ec,
          members: { Format: 'Cades', Verify: false },
        })),
        ...(await localProfile(root, 6, {
          name: 'bare',
          signer: ec,
          members: { Format: 'Cades', IncludeChain: false },
        })),
        'Signing:Trust:Roots:0': pki().rootFile,
        'Signing:Trust:Revocation': 'None',
      },
    });
    const output = (name: string) => join(root, 'output', name);
    const signed = async (name: string, content: string | Uint8Array, profile: string) => {
      const { jobId } = await service.upload(name, content, `?profile=${profile}`);
      const job = await service.finished(jobId);
      t.is(job.errorMessage, null, profile);
      return job;
    };
    // Nothing named: the first profile, since none is called default.
    const first = await service.upload('a.pdf', samplePdf());
    t.is((await service.finished(first.jobId)).outputFileName, 'a.signed.pdf');
    t.deepEqual(await signersOf('Pades', output('a.signed.pdf')), [thumbprint(rsa)]);
    t.regex((await readFile(output('a.signed.pdf'))).toString('latin1'), /\/Reason ?\(Agreed\)/);

    t.is((await signed('order.txt', '<order/>', 'invoices')).outputFileName, 'order.signed.xml');
    t.deepEqual(await signersOf('Xades', output('order.signed.xml')), [thumbprint(ec)]);

    t.is((await signed('a.tar.gz', 'one', 'plain')).outputFileName, 'a.tar.gz.p7m');
    t.deepEqual(await signersOf('Cades', output('a.tar.gz.p7m')), [thumbprint(large)]);

    t.is((await signed('a.bin', 'two', 'pem')).outputFileName, 'a.bin.pem');
    t.regex(await readFile(output('a.bin.pem'), 'utf8'), /^-----BEGIN PKCS7-----\n/);
    t.deepEqual(await signersOf('Cades', output('a.bin.pem')), [thumbprint(ec)]);

    t.is((await signed('b.bin', 'three', 'beside')).outputFileName, 'b.bin.p7s');
    await writeFile(join(root, 'b.bin'), 'three');
    t.deepEqual(await signersOf('Cades', output('b.bin.p7s'), join(root, 'b.bin')), [thumbprint(rsa)]);

    const blind = await signed('c.bin', 'four', 'blind');
    t.is(blind.history.at(-1)?.message, 'Published without verification.');
    t.is((await signed('d.bin', 'five', 'bare')).history.at(-1)?.message, 'Verified and published.');
    t.regex(service.printed, /Signing:Profiles:5:Verify is false/);
    t.notRegex(service.printed, /Verify=false/, 'it is said once');
    // An upload may ask for another format than its profile's.
    const other = await service.upload('e.pdf', samplePdf(), '?profile=plain&format=Pades');
    t.is((await service.finished(other.jobId)).outputFileName, 'e.signed.pdf');
    t.deepEqual(await signersOf('Pades', output('e.signed.pdf')), [thumbprint(large)]);
    t.true((await opensslCms({ signature: output('a.tar.gz.p7m'), ca: pki().rootFile })).ok);
  },
);

test.serial(
  'an encrypted output is decrypted with the password alone, and its cleartext was never in the output folder',
  async (t) => {
    const root = await temporaryRoot(t);
    const service = await Service.start(t, {
      root,
      settings: {
        ...(await localProfile(root, 0, {
          name: 'secret',
          signer: pki().signer('p-256'),
          members: { Format: 'Cades' },
        })),
        ...(await localProfile(root, 1, {
          name: 'open',
          signer: pki().signer('p-256'),
          members: { Format: 'Cades', Encrypt: false },
        })),
        'Signing:Trust:Revocation': 'None',
        'Encryption:Enabled': true,
        'Encryption:Password': PASSWORD,
        'Encryption:Salt': SALT,
        'Encryption:Iterations': 10_000,
      },
    });
    const content = Buffer.alloc(3_000_000, 'content ');
    const one = await service.upload('a.bin', content, '?profile=secret');
    const job = await service.finished(one.jobId);
    t.is(job.errorMessage, null);
    t.is(job.outputFileName, 'a.signed.bin.enc');
    const again = await service.finished((await service.upload('a.bin', content, '?profile=secret')).jobId);
    t.is(again.outputFileName, `a-${again.id.slice(0, 8)}.signed.bin.enc`);
    const open = await service.finished((await service.upload('b.bin', content, '?profile=open')).jobId);
    t.is(open.outputFileName, 'b.signed.bin');
    t.deepEqual((await readdir(join(root, 'output'))).sort(), [
      again.outputFileName ?? '',
      'a.signed.bin.enc',
      'b.signed.bin',
    ]);
    const key = await envelopeKey(PASSWORD, Buffer.from(SALT, 'base64'), 10_000);
    const clear = join(root, 'clear');
    decryptFile({ input: join(root, 'output', 'a.signed.bin.enc'), output: clear, key });
    t.is((await signersOf('Cades', clear)).length, 1);
    const response = await service.fetch(`/api/jobs/${job.id}/output`);
    const body = Buffer.from(await response.arrayBuffer());
    t.true(body.equals(await readFile(join(root, 'output', 'a.signed.bin.enc'))));
    t.is(response.headers.get('content-type'), 'application/octet-stream');
    t.is(response.headers.get('etag'), `"${createHash('sha256').update(body).digest('hex')}"`);
    t.false(service.printed.includes(PASSWORD));
  },
);

test.serial(
  'the start is refused without a usable profile, and names every file and key, and every unreadable trusted file',
  async (t) => {
    const root = await temporaryRoot(t);
    const now = Date.now();
    const expired = pki().signerValid(now - 20 * 86_400_000, now - 86_400_000);
    const mismatch = await localProfile(root, 2, {
      name: 'mismatch',
      signer: pki().signer('p-256'),
      members: { Format: 'Cades' },
    });
    const settings = {
      ...(await localProfile(root, 0, { name: 'old', signer: expired, members: { Format: 'Cades' } })),
      ...(await localProfile(root, 1, {
        name: 'gone',
        signer: pki().signer('p-256'),
        members: {
          Format: 'Cades',
          'Certificate:Pem:KeyPath': join(root, 'not-there.pem'),
        },
      })),
      ...mismatch,
      'Signing:Profiles:2:Certificate:Pem:KeyPath': join(root, 'old.key.pem'),
      'Signing:Trust:Roots:0': join(root, 'no-roots'),
    };
    const error = await t.throwsAsync(Service.start(t, { root, settings }));
    const said = error?.message ?? '';
    t.regex(said, /^ended with 2/);
    for (const part of [
      /Signing profile old: The certificate expired at \S+ Replace \S+old\.crt\.pem \(Signing:Profiles:0:Certificate:Pem:CertificatePath\)/,
      /Signing profile gone: .*not-there\.pem can't be read: ENOENT\. Correct .*Signing:Profiles:1:Certificate:Pem:KeyPath/,
      /Signing profile mismatch: No certificate belongs to the private key\. Correct /,
      /Signing:Trust:Roots:0: .*no-roots can't be read: ENOENT/,
    ])
      t.regex(said, part);
  },
);

test.serial(
  'an unrecorded encrypted output of a dead process is removed, and a retry publishes it',
  async (t) => {
    const root = await temporaryRoot(t);
    const settings = {
      ...(await localProfile(root, 0, {
        name: 'secret',
        signer: pki().signer('p-256'),
        members: { Format: 'Cades' },
      })),
      'Signing:Trust:Revocation': 'None',
      'Encryption:Enabled': true,
      'Encryption:Password': PASSWORD,
      'Encryption:Salt': SALT,
      'Encryption:Iterations': 10_000,
    };
    const first = await Service.start(t, { root, settings, faults: 'pool.release.linked=kill:1' });
    const { jobId } = await first.upload('a.bin', 'content');
    t.is(await first.ended, 'SIGKILL');
    const second = await Service.start(t, { root, settings });
    t.is((await second.job(jobId)).status, 'Failed');
    await second.until('the output to be taken back', async () =>
      (await readdir(join(root, 'output'))).length === 0 ? true : undefined,
    );
    const copies = await second.until('the error copies', () =>
      readdir(join(root, 'error', jobId)).then(
        (names) => (names.length >= 3 ? names : undefined),
        () => undefined,
      ),
    );
    t.deepEqual(copies.sort(), ['a.bin', 'a.signed.bin', `${jobId}.enc`].sort());
    const retried = await second.until('the failed job to be put away', async () => {
      const response = await second.fetch(`/api/jobs/${jobId}/retry`, { method: 'POST' });
      return response.ok ? ((await response.json()) as { newJobId: string }) : undefined;
    });
    t.is((await second.finished(retried.newJobId)).outputFileName, 'a.signed.bin.enc');
  },
);
