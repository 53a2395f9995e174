/** Adds a signature to a signed file (`CoSign`). PDF and XML documents take another one as they are. */
import { closeSync, openSync, readSync } from 'node:fs';
import {
  addAsicSignature,
  addCadesSigner,
  addCadesSignerAtLevel,
  formatOfHeader,
  HEADER_BYTES,
  type SignAtLevelRequest,
  type SignedFile,
  type SigningServices,
} from '@sealwright/signatures';
import type { JobFormat, UploadedFile } from '../../machines/batch/job-context.ts';
import type { WorkerProfileRuntime } from './worker-profiles.ts';

/** A signed file that gets another signature in place of being wrapped. */
export type CoSignedForm = 'Cades' | 'Asic';

/** Media types of containers of signatures stand in the first member (EN 319 162-1 §A.1). */
const CONTAINER_TYPE = 'application/vnd.etsi.asic-';

/** Undefined for a file that is signed as content, and for several files: a container among them is one of the contents. */
export function coSignedForm(
  path: string,
  { format, files }: { readonly format: JobFormat; readonly files?: readonly UploadedFile[] },
  { choices, form }: Pick<WorkerProfileRuntime, 'choices' | 'form'>,
): CoSignedForm | undefined {
  if (choices.coSign !== true || format === 'Pades' || files !== undefined) return undefined;
  const head = fileHeader(path);
  const found = formatOfHeader(head);
  if (found === 'Asic') return form.container && head.includes(CONTAINER_TYPE) ? 'Asic' : undefined;
  return found === 'Cades' && format === 'Cades' && form.container === undefined ? 'Cades' : undefined;
}

/** First bytes of a file, for format detection. */
export function fileHeader(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEADER_BYTES);
    return head.subarray(0, readSync(file, head, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

/** @throws {CryptoError} those of `addCadesSigner` and `addAsicSignature` */
export async function coSign(
  request: SignAtLevelRequest,
  form: CoSignedForm,
  services: SigningServices,
): Promise<SignedFile> {
  const { format, cades: _cades, xades: _xades, pades: _pades, ...shared } = request;
  if (form === 'Asic')
    return addAsicSignature({ ...shared, ...(format !== 'Pades' && { format }) }, services);
  const { signer, level = 'B' } = request;
  return level === 'B' && 'key' in signer
    ? addCadesSigner({ ...shared, signer })
    : addCadesSignerAtLevel(shared, services);
}
