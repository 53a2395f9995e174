/**
 * Signatures of participants whose keys are elsewhere, in two steps: the first validates the certificate and returns the
 * hash that its key signs, the second embeds the signature value.
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describeFailure } from '@sealwright/runtime/core';
import {
  type BegunSigning,
  beginSigning,
  checkSigningCertificate,
  companyNumber,
  completeChain,
  type EvidenceSource,
  externalSigner,
  finishSigning,
  holderIdentifiers,
  joinCadesSigners,
  type QualificationDemand,
  qualifySigner,
  readCertificate,
  type SignatureLevel,
  type SigningServices,
  signerOfState,
  UNPROVEN,
  unmetDemand,
} from '@sealwright/signatures';
import type { CertificateType } from '../../../contracts/portal/words.ts';
import { removeIfPresent } from '../../shared/files/directories.ts';
import type {
  BeginSigningTask,
  CertificateRequirements,
  CertificateVerdict,
  FinishSigningTask,
  PortalResults,
} from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';
import { passesFinalCheck } from './check.ts';
import { beginSync, placeOutput } from './place-output.ts';
import { type PortalTaskContext, profileOf } from './portal-task-context.ts';
import { issuerSource, revocationSource } from './revocation-answers.ts';
import { type FormatParameters, formatParameters, invisible, levelOf } from './signature-parameters.ts';

export async function finishParticipantSigning(
  task: FinishSigningTask,
  thread: PortalTaskContext,
): Promise<PortalResults['portal.finish']> {
  const { format, input, signatures, output } = task;
  const { services } = profileOf(thread, task.profile);
  const state = readFileSync(task.state, 'utf8');
  if (task.demand !== null) await assertStillReached(task.demand, state, thread);
  const value = Buffer.from(task.value, 'base64');
  // A detached signature was made without the existing ones and is merged with them afterwards.
  const joins = format === 'Cades' && signatures !== null;
  const single = joins ? `${output}.single` : output;
  removeIfPresent(output);
  removeIfPresent(single);
  const signed = await finishSigning({ format, input, output: single, state, value, sync: false }, services);
  thread.faults.atSync('portal.finish.signed');
  try {
    const made = joins
      ? joinCadesSigners({ input: signatures, added: single, content: input, output }).output
      : signed.output;
    const synced = beginSync(task, thread);
    const isChecked = await passesFinalCheck(task, task.check?.certificate ?? '', thread);
    await placeOutput(task, made, thread, synced);
    return { output: made, isChecked };
  } finally {
    if (joins) rmSync(single, { force: true });
  }
}

/**
 * Asks again what was asked at the start: meanwhile a certificate may be revoked, a service withdrawn, or a demand raised.
 * @throws {TaskFailure} with the code of what is wrong with the certificate
 */
async function assertStillReached(
  qualification: QualificationDemand,
  state: string,
  thread: PortalTaskContext,
): Promise<void> {
  const { certificate, chain } = signerOfState(state);
  const demands = { type: null, holder: null, companyIdentifier: null, qualification };
  const { rejected } = await judgedCertificate({ certificate, brought: chain }, demands, thread);
  const [first] = rejected?.errors ?? [];
  if (first !== undefined) throw new TaskFailure(first.type, first.message);
}

type Result = PortalResults['portal.begin'];

const NO_SIGNATURES = { identifiers: [], certificate: '' };

interface JudgedCertificate {
  readonly chain: readonly Buffer[];
  /** Undefined: it may sign. */
  readonly rejected: CertificateVerdict | undefined;
  readonly warnings: readonly string[];
  /** Says that the anchor has expired. */
  readonly anchor?: string | undefined;
  readonly fingerprint: string;
}

/** Judges a certificate by trust and demands, at the present time. */
async function judgedCertificate(
  { certificate, brought }: Pick<ReturnType<typeof givenBy>, 'certificate' | 'brought'>,
  demands: CertificateRequirements,
  thread: PortalTaskContext,
): Promise<JudgedCertificate> {
  const { profiles, clock } = thread;
  const { roots, intermediates, revocation } = profiles.trust;
  const lists = profiles.lists?.();
  const isProvable = canBeProven(thread);
  const anchors = isProvable ? roots : [certificate];
  const trust = { anchors, intermediates: [...intermediates, ...brought] };
  let chain: readonly Buffer[] = [];
  let fingerprint = '';
  try {
    ({ fingerprint } = externalSigner(certificate));
    const online = isProvable ? revocationSource(thread) : undefined;
    const issuers = isProvable ? issuerSource(thread) : undefined;
    chain = await chainOf(certificate, trust, issuers, clock.now());
    const verdict = await checkSigningCertificate(
      { certificate, chain },
      {
        ...trust,
        lists,
        // A demand is met for certain or not at all.
        revocation: demands.qualification !== null ? 'hard' : online === undefined ? 'none' : revocation,
        ...(online !== undefined && { online }),
      },
      () => clock.now(),
    );
    const { warnings = [], anchor } = verdict.ok ? verdict : {};
    const demand =
      unmetRequirement(certificate, demands) ??
      unqualified(certificate, [...trust.intermediates, ...chain], demands, thread);
    const unmet = demand === undefined ? undefined : { code: 'certificate.demand', message: demand };
    const fault = verdict.ok ? unmet : verdict;
    return { chain, rejected: fault && rejection(fault), warnings, anchor, fingerprint };
  } catch (error) {
    return { chain: [], rejected: rejection(describeFailure(error)), warnings: [], fingerprint };
  }
}

/** Without roots and lists no chain can be built; where that is allowed, each certificate is accepted with a warning. */
function canBeProven({ profiles }: PortalTaskContext): boolean {
  return profiles.trust.roots.length > 0 || profiles.lists?.() !== undefined;
}

export async function beginParticipantSigning(
  task: BeginSigningTask,
  thread: PortalTaskContext,
): Promise<Result> {
  const given = givenBy(task);
  const { certificate, parameters } = given;
  const { choices, services } = profileOf(thread, task.profile);
  const isProvable = canBeProven(thread);
  if (!isProvable && !task.allowUnproven)
    return { ...NO_SIGNATURES, verdict: rejection({ code: UNPROVEN.type, message: UNPROVEN.message }) };
  const judged = await judgedCertificate(given, task.demands, thread);
  const { chain, rejected, warnings, anchor, fingerprint } = judged;
  if (rejected !== undefined) return { ...NO_SIGNATURES, verdict: rejected, certificate: fingerprint };
  const signer = externalSigner(certificate, chain);
  const form = formatParameters(task.format, task.parameters, task.content);
  const evidence = await missingEvidence(choices.level, services, [certificate, ...chain], task.at);
  const wanted = evidence === undefined ? (choices.level ?? 'B') : 'T';
  const level = levelOf(wanted, form, services);
  const request = { format: task.format, input: task.input, signer, at: task.at, level, ...parameters };
  const begun = begunOrInvisible(request, form, services);
  const bytes = Buffer.from(begun.state);
  writeFileSync(task.output, bytes, { mode: 0o640 });
  const state = { sha256: createHash('sha256').update(bytes).digest('hex'), length: bytes.length };
  await placeOutput(task, state, thread);
  return {
    verdict: {
      isValid: true,
      passed: [{ type: 'certificate', message: 'The certificate may sign.' }],
      errors: [],
      warnings: [
        ...warnings.map((message) => ({ type: 'revocation', message })),
        ...(begun.warnings ?? []).flatMap(({ code, message }) =>
          code === 'pdf.no-glyph' ? [{ type: code, message }] : [],
        ),
        ...(anchor === undefined ? [] : [{ type: 'chain.anchor', message: anchor }]),
        ...(isProvable ? [] : [UNPROVEN]),
        ...(evidence === undefined ? [] : [{ type: 'signature.level', message: evidence }]),
      ],
    },
    identifiers: holderIdentifiers(certificate),
    certificate: fingerprint,
    begun: {
      state,
      hash: begun.hash.toString('base64'),
      toBeSigned: begun.toBeSigned.toString('base64'),
      digest: begun.algorithm.digest,
    },
  };
}

/** Says why a signature by the certificate does not reach what the organization demands; undefined: it does. */
function unqualified(
  certificate: Buffer,
  others: readonly Buffer[],
  { qualification }: CertificateRequirements,
  { profiles, clock }: PortalTaskContext,
): string | undefined {
  if (qualification === null) return undefined;
  const lists = profiles.lists?.();
  return unmetDemand(qualification, lists && qualifySigner(certificate, others, { lists, at: clock.now() }));
}

/** The certificate, others that may lead to a trusted one, and what its key can do. */
function givenBy({ certificate }: Pick<BeginSigningTask, 'certificate'>) {
  if ('ofState' in certificate) {
    const state = readFileSync(certificate.ofState, 'utf8');
    const { certificate: own, chain } = signerOfState(state);
    return { certificate: own, brought: chain, parameters: {} };
  }
  const { der, chain = [], digest, padding } = certificate;
  return {
    certificate: Buffer.from(der, 'base64'),
    brought: chain.map((one) => Buffer.from(one, 'base64')),
    parameters: { ...(digest !== undefined && { digest }), ...(padding !== undefined && { padding }) },
  };
}

/** The fetched issuers too; without them the check below refuses the certificate and says why. */
async function chainOf(
  certificate: Buffer,
  trust: Parameters<typeof completeChain>[1],
  source: EvidenceSource | undefined,
  at: number,
): Promise<readonly Buffer[]> {
  try {
    return await completeChain({ certificate, chain: [] }, trust, source, at);
  } catch {
    return [];
  }
}

/**
 * Returns the reason why a signature with this certificate gets level T instead of a higher one: not every authority
 * publishes revocation data. Undefined when it gets the level of the profile. The second step uses the same answers.
 */
async function missingEvidence(
  level: SignatureLevel | undefined,
  { evidence }: SigningServices,
  [certificate = Buffer.alloc(0), ...chain]: readonly Buffer[],
  at: number,
): Promise<string | undefined> {
  if (level !== 'LT' && level !== 'LTA') return undefined;
  try {
    await evidence?.collect([certificate], chain, at);
    return undefined;
  } catch (error) {
    return `The signature has level T and not ${level}: ${describeFailure(error).message}`;
  }
}

/** A certified document permits signatures, but no new annotations over certified content. */
function begunOrInvisible(
  request: Omit<Parameters<typeof beginSigning>[0], keyof FormatParameters>,
  form: FormatParameters,
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

/** Arcs of certificate policies below 2.16.76.1.2, by certificate type. */
const IDENTIFIER_ARCS: { readonly [type in CertificateType]: number } = {
  A1: 1,
  A2: 2,
  A3: 3,
  A4: 4,
  S1: 101,
  S2: 102,
  S3: 103,
  S4: 104,
  T3: 303,
  T4: 304,
};

/**
 * Lists the requirements of a flow action that its signer's certificate does not meet, in one sentence; undefined for none.
 *
 * Source: docs/portal-values.md §6, `required…ToSign`.
 * @param der the certificate
 */
function unmetRequirement(
  der: Buffer,
  { type, holder, companyIdentifier }: CertificateRequirements,
): string | undefined {
  const certificate = readCertificate(der);
  const company = companyNumber(certificate);
  const arc = type === null ? '' : `2.16.76.1.2.${IDENTIFIER_ARCS[type]}.`;
  if (type !== null && !certificate.policies?.some((policy) => `${policy}.`.startsWith(arc)))
    return `The action asks for a certificate of the type ${type}.`;
  if (holder === 'Company' && company === undefined) return 'The action asks for a certificate of a company.';
  if (holder === 'Individual' && company !== undefined)
    return 'The action asks for a certificate of a person.';
  if (companyIdentifier !== null && company !== companyIdentifier)
    return 'The action asks for a certificate of another company.';
  return undefined;
}
