/** Pictures of signatures that participants give. */
import { readFile } from 'node:fs/promises';
import { quickPictureFault } from '@sealwright/signatures';
import type { ElectronicSigning } from '../../../contracts/portal/signing/signing.ts';
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { BlobRef } from '../../../machines/portal/portal-types.ts';
import type { SigningPool } from '../../pool/pool.ts';
import { poolRefusal } from '../shared/pool-refusal.ts';
import type { Blobs } from '../uploads/blobs.ts';
import type { Uploads } from '../uploads/uploads.ts';

/** Pictures of signatures; ours. */
const MAX_IMAGE_BYTES = 2 * 1024 * 1024;
/** Larger pictures are decoded in the pool. */
const MAX_DECODED_PIXELS = 2_000_000;

interface ImageNeeds {
  readonly blobs: Blobs;
  readonly pool: Pick<SigningPool, 'run'>;
  readonly uploads: Pick<Uploads, 'findUpload'>;
}

/** The picture of a signature, stored; null = none. Refusals: `UploadNotFound`; `BadRequest` for what is no picture. */
export async function signatureImage(
  needs: ImageNeeds,
  { context }: { readonly context: DocumentContext },
  { imageUploadId, image }: Pick<ElectronicSigning, 'imageUploadId' | 'image'>,
): Promise<BlobRef | null> {
  const { uploads, blobs } = needs;
  if (imageUploadId !== undefined) {
    const upload = await uploads.findUpload(context.organization.id, imageUploadId);
    if (upload.blob.length > MAX_IMAGE_BYTES)
      throw new PortalRefusal('BadRequest', `The SignatureImage has more than ${MAX_IMAGE_BYTES} bytes.`);
    await assertImage(needs, context, await readFile(await blobs.localPath(upload.blob)));
    return upload.blob;
  }
  if (image === undefined) return null;
  await assertImage(needs, context, image);
  return (await blobs.put(image)).blob;
}

/** Refuses a picture that cannot be drawn: it would be missing in the signed file. */
async function assertImage(
  { pool, blobs }: ImageNeeds,
  { id, format, current, organization }: DocumentContext,
  picture: Buffer,
): Promise<void> {
  if (!isImage(picture)) throw new PortalRefusal('BadRequest', 'The SignatureImage is neither PNG nor JPEG.');
  let fault = quickPictureFault(picture, MAX_DECODED_PIXELS);
  if (fault === 'unknown') {
    const pdf = format === 'Pades' ? await blobs.localPath(current) : null;
    const scope = { organization: organization.id, bytes: current.length };
    const answer = await pool.run({ task: 'portal.picture', documentId: id, picture, pdf }, scope);
    if (!answer.ok) throw poolRefusal(answer);
    fault = answer.result.fault ?? undefined;
  }
  if (fault === undefined) return;
  const remedy = 'Save it as a PNG or JPEG of RGB colours and at most 16 million pixels, and send it again.';
  throw new PortalRefusal('BadRequest', `The SignatureImage cannot be drawn. ${fault} ${remedy}`);
}

/** By its first bytes. */
function isImage(bytes: Buffer): boolean {
  return (
    bytes.subarray(0, 4).toString('hex') === '89504e47' || bytes.subarray(0, 3).toString('hex') === 'ffd8ff'
  );
}
