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
import { type FormOfSignature, formOfSignature, invisible } from './signature-form.ts';
import { type PortalThread, sealingProfile } from './thread.ts';

type Result = PortalResults['portal.seal'];

/** At level B done when this returns; above it, once the authorities have answered. */
export function seal(task: SealTask, thread: PortalThread): Result | Promise<Result> {
  const profile = sealingProfile(thread, task.profile);
  const form = formOfSignature(task.format, task.words);
  const plain = invisible(form);
  const certificate = profile.signer.fingerprint;
  const done = ({ output }: SignedFile): Result => {
    thread.faults.atSync('portal.seal.signed');
    return { output, certificate };
  };
  // A document that is certified takes signatures, but none that could be laid over what was certified.
  const orInvisible = (error: unknown): SignedFile | Promise<SignedFile> => {
    if (plain === form || describeFailure(error).code !== 'pdf.change-forbidden') throw error;
    return sign(task, profile, plain);
  };
  try {
    const signed = sign(task, profile, form);
    if (signed instanceof Promise) return signed.catch(orInvisible).then(done);
    return done(signed);
  } catch (error) {
    const signed = orInvisible(error);
    return signed instanceof Promise ? signed.then(done) : done(signed);
  }
}

function sign(
  { format, input, signatures, output, at }: SealTask,
  { signer, choices, services }: ThreadProfile & { readonly signer: NonNullable<ThreadProfile['signer']> },
  form: FormOfSignature,
): SignedFile | Promise<SignedFile> {
  rmSync(output, { force: true });
  const { level = 'B', digest, includeChain, policy } = choices;
  const parameters = {
    signer,
    at,
    level,
    ...(digest !== undefined && { digest }),
    ...(includeChain !== undefined && { includeChain }),
    ...(policy !== undefined && { policy }),
  };
  if (format === 'Cades' && signatures !== null) {
    const request = { ...parameters, input: signatures, content: input, output };
    return level === 'B' ? addCadesSigner(request) : addCadesSignerAtLevel(request, services);
  }
  const request = { ...parameters, format, input, output, ...form };
  return level === 'B' ? signFile(request) : signFileAtLevel(request, services);
}
