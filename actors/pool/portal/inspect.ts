/** Determines the signature format of a file from its content and its declared type. */
import { describeFailure } from '@sealwright/runtime/core';
import { countPdfPages, formatOfHeader, HEADER_BYTES, trySigning } from '@sealwright/signatures';
import type { DocumentFormat, XadesOptions } from '../../../machines/portal/portal-types.ts';
import { isPdfContent } from '../../shared/files/pdf-content.ts';
import { fileHeader } from '../co-sign.ts';
import type { InspectTask, PortalResults } from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';
import { type PortalTaskContext, profileOf } from './portal-task-context.ts';
import { formatParameters, levelOf } from './signature-parameters.ts';

const XML_TYPE = /^(?:application|text)\/xml$|\+xml$/;

/**
 * @param bytes of the file, where they are at hand
 * @throws {TaskFailure} `document.unreadable` for a file that cannot be signed, `document.options-unsupported` for one that cannot be
 * signed in the requested way
 */
export function inspect(
  task: InspectTask,
  thread: PortalTaskContext,
  bytes?: Uint8Array,
): PortalResults['portal.inspect'] {
  const input = bytes ?? task.path;
  const format = formatOf(task, input);
  const warnings = tryOut(task, input, { thread, format, xades: null });
  if (format === 'Xades') for (const xades of task.xades) tryOut(task, input, { thread, format, xades });
  return { format, pages: pagesOf(task), ...(warnings.length > 0 && { warnings }) };
}

/** Null for a file that is not a PDF, or whose pages cannot be read. */
function pagesOf({ path, countPagesTo }: InspectTask): number | null {
  if (countPagesTo === 0 || formatOfHeader(fileHeader(path)) !== 'Pades') return null;
  try {
    return countPdfPages(path, countPagesTo);
  } catch {
    return null;
  }
}

/** Lays out a signature, as a test; returns the warnings of it. */
function tryOut(
  { profile, at, content }: InspectTask,
  input: string | Uint8Array,
  {
    thread,
    format,
    xades,
  }: {
    readonly thread: PortalTaskContext;
    readonly format: DocumentFormat;
    readonly xades: XadesOptions | null;
  },
): ReturnType<typeof trySigning> {
  const { signer, services } = profileOf(thread, profile);
  // Errors of the file then appear at signing.
  if (signer === undefined) return [];
  const parameters = {
    fieldName: 'Inspection',
    name: '',
    reason: '',
    contactInfo: null,
    visible: null,
    xades,
  };
  try {
    const form = formatParameters(format, parameters, content);
    // Level B: authorities are contacted at signing only.
    const level = levelOf('B', form, services);
    return trySigning({ format, input, signer, at, level, ...form });
  } catch (error) {
    throw new TaskFailure(
      xades === null && content === undefined ? 'document.unreadable' : 'document.options-unsupported',
      describeFailure(error).message,
    );
  }
}

function formatOf(
  { contentType, fileName, isPdf, forceCades }: InspectTask,
  input: string | Uint8Array,
): DocumentFormat {
  const head = typeof input === 'string' ? fileHeader(input) : Buffer.from(input.subarray(0, HEADER_BYTES));
  const type = contentType.toLowerCase();
  const saysPdf = type === 'application/pdf';
  const hasHeader = formatOfHeader(head) === 'Pades';
  if (saysPdf && !hasHeader)
    throw new TaskFailure('document.unreadable', 'The file is called a PDF and is none.');
  if (forceCades) return 'Cades';
  if (hasHeader && (isPdf || isPdfContent(head, { name: fileName, contentType }))) return 'Pades';
  return XML_TYPE.test(type) || /\.xml$/i.test(fileName) ? 'Xades' : 'Cades';
}
