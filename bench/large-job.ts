/** Process that signs or validates one file and prints its cost as JSON. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SignFileRequest } from '#crypto/core/types.js';
import { signFile } from '#crypto/files/sign-file.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { deserializeSigner, type SerializedSigner } from '#crypto/keys/transfer.js';

export interface LargeJob {
  readonly work: 'sign' | 'validate';
  readonly request: Pick<SignFileRequest, 'format' | 'input' | 'output' | 'cades' | 'xades'>;
  readonly at: number;
  readonly signer: { readonly [part in 'certificate' | 'privateKey' | 'root']: string };
}

export interface LargeResult {
  /** Milliseconds of processor time for the job alone. */
  readonly user: number;
  readonly system: number;
  /** Peak of resident memory, MiB. */
  readonly peak: number;
  /** Indication of the validation. */
  readonly indication?: string;
}

const job = JSON.parse(readFileSync(0, 'utf8')) as LargeJob;
const bytes = (text: string): Buffer => Buffer.from(text, 'base64');
const certificate = bytes(job.signer.certificate);
const signer: SerializedSigner = {
  where: 'memory',
  certificate,
  chain: [],
  fingerprint: new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase(),
  privateKey: bytes(job.signer.privateKey),
};
const before = process.cpuUsage();
let indication: string | undefined;
if (job.work === 'sign') {
  signFile({ ...job.request, at: job.at, sync: false, signer: deserializeSigner(signer) });
} else {
  const { format, input, output } = job.request;
  const detached = job.request.cades?.detached === true || job.request.xades?.packaging === 'detached';
  const trust = { anchors: [bytes(job.signer.root)], intermediates: [], revocation: 'none' } as const;
  const content = detached ? { content: input } : {};
  ({ indication } = await validateFile({ format, path: output, at: job.at, trust, ...content }));
}
const { user, system } = process.cpuUsage(before);
const result: LargeResult = {
  user: user / 1000,
  system: system / 1000,
  // `maxRSS` is in KiB.
  peak: process.resourceUsage().maxRSS / 1024,
  ...(indication === undefined ? {} : { indication }),
};
console.log(JSON.stringify(result));
