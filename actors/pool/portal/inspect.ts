/** Says how a file will be signed: by what it is, not only by what its sender calls it. */
import { beginSigning } from '../../../crypto/index.ts';
import type { DocumentFormat } from '../../../machines/portal-words.ts';
import { describeFailure } from '../../../runtime/index.ts';
import type { InspectTask, PortalResults } from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';
import { headOfFile } from './head-of-file.ts';
import { formOfSignature } from './signature-form.ts';
import { type PortalThread, sealingProfile } from './thread.ts';

const XML_TYPE = /^(?:application|text)\/xml$|\+xml$/;

/** @throws {TaskFailure} `document.unreadable` when nobody could sign it */
export function inspect(task: InspectTask, thread: PortalThread): PortalResults['portal.inspect'] {
  const format = formatOf(task);
  const { signer } = sealingProfile(thread, task.profile);
  const words = {
    fieldName: 'Inspection',
    name: '',
    reason: '',
    contactInfo: null,
    visible: null,
    xades: null,
  };
  try {
    beginSigning({ format, input: task.path, signer, at: task.at, ...formOfSignature(format, words) });
  } catch (error) {
    throw new TaskFailure(
      'document.unreadable',
      describeFailure(error).message.replaceAll(task.path, 'The file'),
    );
  }
  return { format };
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
