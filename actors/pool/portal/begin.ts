/** First of two steps: judges a participant's certificate and says what its key has to sign. */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import {
  type BegunSigning,
  beginSigning,
  checkSigningCertificate,
  holderIdentifiers,
  type SigningServices,
  signerOfCertificate,
  waysUp,
} from '../../../crypto/index.ts';
import { describeFailure } from '../../../runtime/index.ts';
import type { BeginTask, CertificateVerdict, PortalResults } from '../portal-tasks.ts';
import { missingDemand } from './certificate-demands.ts';
import { revocationAnswers } from './revocation-answers.ts';
import { type FormOfSignature, formOfSignature, invisible, levelOf } from './signature-form.ts';
import { type PortalThread, sealingProfile } from './thread.ts';

type Result = PortalResults['portal.begin'];

const NOTHING = { identifiers: [], certificate: '' };
const UNPROVEN = {
  code: 'certificate.unproven',
  message: 'No roots are configured that could vouch for the certificate.',
};

export async function begin(task: BeginTask, thread: PortalThread): Promise<Result> {
  const certificate = Buffer.from(task.certificate, 'base64');
  const { profiles, clock } = thread;
  const { choices, services } = sealingProfile(thread, task.profile);
  const { roots, intermediates, revocation } = profiles.trust;
  // Without roots nobody vouches for people's certificates; where that is allowed, each is looked at by itself.
  if (roots.length === 0 && !task.allowUnproven) return { ...NOTHING, verdict: rejection(UNPROVEN) };
  const anchors = roots.length > 0 ? roots : [certificate];
  const trust = { anchors, intermediates };
  let chain: readonly Buffer[];
  let rejected: CertificateVerdict | undefined;
  let warnings: readonly string[] = [];
  let fingerprint = '';
  try {
    ({ chain } = waysUp({ certificate, chain: [] }, trust));
    ({ fingerprint } = signerOfCertificate(certificate));
    const online = roots.length > 0 ? revocationAnswers(thread) : undefined;
    const verdict = await checkSigningCertificate(
      { certificate, chain },
      {
        ...trust,
        revocation: online === undefined ? 'none' : revocation,
        ...(online !== undefined && { online }),
      },
      () => clock.now(),
    );
    if (verdict.ok) warnings = verdict.warnings;
    else rejected = rejection(verdict);
    const demand = missingDemand(certificate, task.demands);
    if (demand !== undefined) rejected ??= rejection({ code: 'certificate.demand', message: demand });
  } catch (error) {
    rejected = rejection(describeFailure(error));
    chain = [];
  }
  if (rejected !== undefined) return { ...NOTHING, verdict: rejected, certificate: fingerprint };
  const signer = signerOfCertificate(certificate, chain);
  const form = formOfSignature(task.format, task.words);
  const level = levelOf((choices.level ?? 'B') === 'B' ? 'B' : 'T', form, services);
  const request = { format: task.format, input: task.input, signer, at: task.at, level };
  const begun = begunOrInvisible(request, form, services);
  return {
    verdict: {
      isValid: true,
      passed: [{ type: 'certificate', message: 'The certificate may sign.' }],
      errors: [],
      warnings: [
        ...warnings.map((message) => ({ type: 'revocation', message })),
        ...(roots.length > 0 ? [] : [{ type: UNPROVEN.code, message: UNPROVEN.message }]),
      ],
    },
    identifiers: holderIdentifiers(certificate),
    certificate: fingerprint,
    begun: {
      state: keep(task.output, begun.state),
      hash: begun.hash.toString('base64'),
      toBeSigned: begun.toBeSigned.toString('base64'),
      digest: begun.algorithm.digest,
    },
  };
}

/** A certified document takes signatures, but none that could be laid over what was certified. */
function begunOrInvisible(
  request: Omit<Parameters<typeof beginSigning>[0], keyof FormOfSignature>,
  form: FormOfSignature,
  services: SigningServices,
): BegunSigning {
  try {
    return beginSigning({ ...request, ...form }, services);
  } catch (error) {
    const plain = invisible(form);
    if (plain === form || describeFailure(error).code !== 'pdf.change-forbidden') throw error;
    return beginSigning({ ...request, ...plain }, services);
  }
}

function rejection({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): CertificateVerdict {
  return { isValid: false, passed: [], errors: [{ type: code, message }], warnings: [] };
}

function keep(path: string, state: string): { readonly sha256: string; readonly length: number } {
  const bytes = Buffer.from(state);
  const file = openSync(path, 'w', 0o640);
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return { sha256: createHash('sha256').update(bytes).digest('hex'), length: bytes.length };
}
