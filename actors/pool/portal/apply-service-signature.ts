/** Signs with a profile's key on behalf of a participant who signs electronically. */
import { readFileSync } from 'node:fs';
import { describeFailure } from '@sealwright/runtime/core';
import {
  addCadesSigner,
  addCadesSignerAtLevel,
  countPdfSignatures,
  isPicture,
  type SignedFile,
  signFileAtLevel,
  signPadesSeries,
} from '@sealwright/signatures';
import { plainLine } from '../../../contracts/plain-text.ts';
import { removeIfPresent } from '../../shared/files/directories.ts';
import type { PortalResults, ServiceSignatureTask } from '../portal-tasks.ts';
import { policyOf } from '../worker-profiles.ts';
import { passesFinalCheck } from './check.ts';
import { beginSync, placeOutput } from './place-output.ts';
import { type PortalTaskContext, type ServiceProfile, serviceProfile } from './portal-task-context.ts';
import {
  type FormatParameters,
  formatParameters,
  levelOf,
  simplerParameters,
} from './signature-parameters.ts';

type Result = PortalResults['portal.seal'];

/** Resolves when the file is durable under the name of its content. */
export async function applyServiceSignature(
  task: ServiceSignatureTask,
  thread: PortalTaskContext,
): Promise<Result> {
  const profile = serviceProfile(thread, task.profile);
  const certificate = profile.signer.fingerprint;
  const attempt = async (forms: readonly FormatParameters[]): Promise<SignedFile> => {
    const [form = {}, ...plainer] = forms;
    try {
      return await sign(task, profile, form);
    } catch (error) {
      if (plainer.length === 0 || !APPEARANCE_VARIANTS.has(describeFailure(error).code)) throw error;
      return attempt(plainer);
    }
  };
  const { rebuild } = task;
  // A change of the pages would harm the signatures that an uploaded file had.
  const isRebuilt = rebuild !== undefined && countPdfSignatures(rebuild.original) === 0;
  const { output, warnings = [] } = isRebuilt
    ? await signSeries({ ...task, rebuild }, profile)
    : await attempt(simplerParameters(formatParameters(task.format, task.parameters, task.content)));
  const hasEarlierSignatures = isRebuilt && rebuild.earlier.length > 0;
  thread.faults.atSync('portal.seal.signed', hasEarlierSignatures ? 'rebuilt' : undefined);
  const synced = beginSync(task, thread);
  const isChecked = await passesFinalCheck(task, certificate, thread);
  await placeOutput(task, output, thread, synced);
  // The others are known since the upload.
  const letters = warnings.filter(({ code }) => code === 'pdf.no-glyph');
  return {
    output,
    certificate,
    isChecked,
    ...(isRebuilt && { isRebuilt }),
    ...(letters.length > 0 && { warnings: letters }),
  };
}

/** Builds the file again: content of all participants so far, then their signatures. */
function signSeries(
  task: ServiceSignatureTask & { readonly rebuild: NonNullable<ServiceSignatureTask['rebuild']> },
  { signer, choices, services }: ServiceProfile,
): Promise<SignedFile> {
  const { rebuild, output, content } = task;
  removeIfPresent(output);
  const { digest, padding, includeChain, level = 'B' } = choices;
  const all = [...rebuild.earlier, { at: task.at, parameters: task.parameters }];
  const steps = all.map(({ at, parameters }, index) => {
    const [, ...plainer] = simplerParameters(formatParameters('Pades', parameters));
    const isDrawable = parameters.visible?.image == null || isPicture(readFileSync(parameters.visible.image));
    const form = isDrawable ? formatParameters('Pades', parameters) : plainer[0];
    const pages = index === 0 ? formatParameters('Pades', parameters, content).pades?.content : undefined;
    return { at, pades: { ...form?.pades, ...(pages !== undefined && { content: pages }) } };
  });
  const request = {
    input: rebuild.original,
    output,
    signer,
    level,
    ...(digest !== undefined && { digest }),
    ...(padding !== undefined && { padding }),
    ...(includeChain !== undefined && { includeChain }),
    ...policyOf(choices, { format: 'Pades', at: task.at, signer, level }),
  };
  return signPadesSeries(request, steps, services);
}

/**
 * Errors of the appearance: an image that cannot be drawn, or a certified document, which permits signatures but no new
 * annotations over certified content. The signature is then made without the appearance.
 */
const APPEARANCE_VARIANTS: ReadonlySet<string> = new Set(['request.invalid', 'pdf.change-forbidden']);

/** Characters that XML lacks, besides those that are no text. */
const NO_CHARACTERS = /[\ufffe\uffff]/g;

/** Gives the reason the form of a claimed role. Names in it are limited, so that it fits. */
function claimedRole(reason: string): string {
  return plainLine(reason.replace(NO_CHARACTERS, ''));
}

function sign(
  { format, input, signatures, output, at, parameters: { reason } }: ServiceSignatureTask,
  { signer, choices, services }: ServiceProfile,
  form: FormatParameters,
): SignedFile | Promise<SignedFile> {
  removeIfPresent(output);
  const { digest, padding, includeChain } = choices;
  const level = levelOf(choices.level ?? 'B', form, services);
  const parameters = {
    signer,
    at,
    level,
    sync: false,
    ...(digest !== undefined && { digest }),
    ...(padding !== undefined && { padding }),
    ...(includeChain !== undefined && { includeChain }),
    ...policyOf(choices, { format, at, signer, level }),
    // A PDF has the reason itself; the others have no place for one.
    ...(format !== 'Pades' && { claimedRole: claimedRole(reason) }),
  };
  if (format === 'Cades' && signatures !== null) {
    const { contentIdentifier } = form.cades ?? {};
    const request = { ...parameters, contentIdentifier, input: signatures, content: input, output };
    return level === 'B' && 'key' in signer
      ? addCadesSigner({ ...request, signer })
      : addCadesSignerAtLevel(request, services);
  }
  const request = { format, input, output, ...parameters, ...form };
  return signFileAtLevel(request, services);
}
