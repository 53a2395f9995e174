/** Signs with a profile's key for somebody who signs electronically. */
import { rmSync } from 'node:fs';
import {
  addCadesSigner,
  addCadesSignerAtLevel,
  type SignedFile,
  signFile,
  signFileAtLevel,
} from '../../../crypto/index.ts';
import { describeFailure } from '../../../runtime/index.ts';
import type { PortalResults, SealTask } from '../portal-tasks.ts';
import type { ThreadProfile } from '../worker-profiles.ts';
import { type FormOfSignature, formOfSignature, levelOf, plainerForms } from './signature-form.ts';
import { type PortalThread, sealingProfile } from './thread.ts';

type Result = PortalResults['portal.seal'];

/** At level B done when this returns; above it, once the authorities have answered. */
export function seal(task: SealTask, thread: PortalThread): Result | Promise<Result> {
  const profile = sealingProfile(thread, task.profile);
  const certificate = profile.signer.fingerprint;
  const done = ({ output }: SignedFile): Result => {
    thread.faults.atSync('portal.seal.signed');
    return { output, certificate };
  };
  const attempt = (forms: readonly FormOfSignature[]): Result | Promise<Result> => {
    const [form = {}, ...plainer] = forms;
    const otherwise = (error: unknown): Result | Promise<Result> => {
      if (plainer.length === 0 || !LOOKS.has(describeFailure(error).code)) throw error;
      return attempt(plainer);
    };
    try {
      const signed = sign(task, profile, form);
      return signed instanceof Promise ? signed.then(done, otherwise) : done(signed);
    } catch (error) {
      return otherwise(error);
    }
  };
  return attempt(plainerForms(formOfSignature(task.format, task.words)));
}

/**
 * What may be wrong with how a signature looks: a picture that cannot be drawn, or a certified document, which takes
 * signatures but none that could be laid over what was certified. A signature that was promised is made all the same.
 */
const LOOKS: ReadonlySet<string> = new Set(['request.invalid', 'pdf.change-forbidden']);

function sign(
  { format, input, signatures, output, at }: SealTask,
  { signer, choices, services }: ThreadProfile & { readonly signer: NonNullable<ThreadProfile['signer']> },
  form: FormOfSignature,
): SignedFile | Promise<SignedFile> {
  rmSync(output, { force: true });
  const { digest, includeChain, policy } = choices;
  const level = levelOf(choices.level ?? 'B', form, services);
  const parameters = {
    signer,
    at,
    level,
    ...(digest !== undefined && { digest }),
    ...(includeChain !== undefined && { includeChain }),
    ...(policy !== undefined && { policy }),
  };
  if (format === 'Cades' && signatures !== null) {
    const { contentIdentifier } = form.cades ?? {};
    const request = { ...parameters, contentIdentifier, input: signatures, content: input, output };
    return level === 'B' ? addCadesSigner(request) : addCadesSignerAtLevel(request, services);
  }
  const request = { ...parameters, format, input, output, ...form };
  return level === 'B' ? signFile(request) : signFileAtLevel(request, services);
}
