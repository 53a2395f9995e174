/** Says how a file will be signed: by what it is, not only by what its sender calls it. */
import { beginSigning } from '../../../crypto/index.ts';
import type { DocumentFormat, XadesOptions } from '../../../machines/portal-words.ts';
import { describeFailure } from '../../../runtime/index.ts';
import type { InspectTask, PortalResults } from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';
import { headOfFile } from './head-of-file.ts';
import { formOfSignature, levelOf } from './signature-form.ts';
import { type PortalThread, sealingProfile } from './thread.ts';

const XML_TYPE = /^(?:application|text)\/xml$|\+xml$/;

/**
 * @throws {TaskFailure} `document.unreadable` when nobody could sign it, `document.unfit` when nobody could sign it in
 *   the way that is asked for
 */
export function inspect(task: InspectTask, thread: PortalThread): PortalResults['portal.inspect'] {
  const format = formatOf(task);
  tryOut(task, thread, format, null);
  if (format === 'Xades') for (const xades of task.xades) tryOut(task, thread, format, xades);
  return { format };
}

/** Everything but the signature's value. */
function tryOut(
  { path, profile, at }: InspectTask,
  thread: PortalThread,
  format: DocumentFormat,
  xades: XadesOptions | null,
): void {
  const { signer, services } = sealingProfile(thread, profile);
  const words = {
    fieldName: 'Inspection',
    name: '',
    reason: '',
    contactInfo: null,
    visible: null,
    xades,
  };
  try {
    const form = formOfSignature(format, words);
    // Whether authorities answer is found out when they are asked.
    const level = levelOf('B', form, services);
    beginSigning({ format, input: path, signer, at, level, ...form });
  } catch (error) {
    throw new TaskFailure(
      xades === null ? 'document.unreadable' : 'document.unfit',
      describeFailure(error).message.replaceAll(path, 'The file'),
    );
  }
}

function formatOf({ path, contentType, fileName, forceCades }: InspectTask): DocumentFormat {
  const head = headOfFile(path);
  const type = contentType.toLowerCase();
  const saysPdf = type === 'application/pdf';
  const isPdf = head.includes('%PDF-');
  if (saysPdf && !isPdf)
    throw new TaskFailure('document.unreadable', 'The file is called a PDF and is none.');
  if (forceCades) return 'Cades';
  const isNamedSo = saysPdf || /\.pdf$/i.test(fileName) || head.subarray(0, 5).equals(Buffer.from('%PDF-'));
  if (isPdf && isNamedSo) return 'Pades';
  return XML_TYPE.test(type) || (type !== 'application/pdf' && /\.xml$/i.test(fileName)) ? 'Xades' : 'Cades';
}
