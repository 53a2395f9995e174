/**
 * Second implementation of signature verification: pkijs for CMS (PAdES, CAdES), xml-crypto for XML signatures. It
 * shares no code with the signature engine; the layout check enforces this. It verifies digests, signed attributes
 * and signature values, and not chains, revocation, levels or changes after signing.
 */
import {
  type IndependentReport,
  type IndependentRequest,
  type IndependentSignature,
  notComparable,
} from './types.ts';

export { type Agreement, type Comparison, compareReports, judgeAdded } from './compare.ts';
export type { IndependentFormat, IndependentReport } from './types.ts';

/** Size limit of a file with its detached content, in bytes: both are held in memory. */
export const MAX_COMPARED_BYTES = 128 * 1024 * 1024;

/** Verifies the signatures of one file. Never rejects because of the file's content. */
export async function verifyIndependently(request: IndependentRequest): Promise<IndependentReport> {
  const library = request.format === 'Xades' ? 'xml-crypto' : 'pkijs';
  try {
    return { library, signatures: await judge(request) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { library, signatures: [notComparable(`The library gave up: ${reason}`)] };
  }
}

/** Loads the libraries of a format with its first file: they are a quarter of the code of a pool thread. */
async function judge({
  format,
  bytes,
  content,
  at,
}: IndependentRequest): Promise<readonly IndependentSignature[]> {
  if (bytes.length + (content?.length ?? 0) > MAX_COMPARED_BYTES)
    return [notComparable(`The file is longer than ${MAX_COMPARED_BYTES} bytes.`)];
  switch (format) {
    case 'Pades':
      return (await import('./pdf.ts')).judgePdf(bytes, at);
    case 'Cades': {
      const { judgeCms, withoutArmor } = await import('./cms.ts');
      return judgeCms(withoutArmor(bytes), content, at);
    }
    case 'Xades':
      return (await import('./xml.ts')).judgeXml(bytes);
    case 'Asic':
      return (await import('./container.ts')).judgeContainer(bytes, at);
  }
}
