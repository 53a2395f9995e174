/** Findings about a container itself, independent of its signatures (EN 319 162-1 §4.3.3.1, §4.4.3.1, Annex A.1). */
import type { Finding } from '../core/validation-report.ts';
import { printableName } from '../zip/zip-names.ts';
import { FLAG, METHOD } from '../zip/zip-records.ts';
import { type AsicKind, type Container, isLookalike, kindOf, MIME_TYPE_MEMBER } from './container.ts';

/** Findings: `container.mimetype`, `container.lookalike`, `container.data-objects`, `container.signatures`, `container.comment`. */
export function containerFindings(container: Container): Finding[] {
  const { kind } = container;
  return [
    mimeType(container),
    ...lookalikes(container),
    ...dataObjects(container, kind),
    ...comment(container),
    ...evidenceRecords(container),
  ];
}

function mimeType(container: Container): Finding {
  const type = 'container.mimetype';
  const given = container.mimeType;
  if (given === undefined) {
    const message = 'The container does not say at its beginning what it is.';
    return { status: 'warning', type, message };
  }
  const [first] = container.directory.entries;
  const inPlace =
    first?.name === MIME_TYPE_MEMBER &&
    first.plain &&
    first.header.method === METHOD.stored &&
    (first.header.flags & FLAG.descriptor) === 0;
  if (!inPlace) {
    const message = 'The media type is not the first member, stored as it is and without extra fields.';
    return { status: 'warning', type, message };
  }
  const detail = printableName(given);
  if (kindOf(given) === undefined) {
    return { status: 'warning', type, message: 'The media type is not one of signature containers.', detail };
  }
  return { status: 'passed', type, message: 'The container says at its beginning what it is.', detail };
}

function lookalikes({ directory }: Container): Finding[] {
  return directory.entries
    .filter(({ name }) => isLookalike(name))
    .map(({ name }) => ({
      status: 'failed',
      type: 'container.lookalike',
      message: 'The name of a member differs from one with a meaning only in its case.',
      detail: printableName(name),
      subIndication: 'FORMAT_FAILURE',
    }));
}

function dataObjects(container: Container, kind: AsicKind): Finding[] {
  const objects = container.named('data');
  const type = 'container.data-objects';
  if (objects.length === 0) {
    const message = 'The container holds no file that could be signed.';
    return [{ status: 'failed', type, message, subIndication: 'FORMAT_FAILURE' }];
  }
  if (kind === 'E') {
    return [{ status: 'passed', type, message: 'The container holds files.', detail: `${objects.length}` }];
  }
  const findings: Finding[] = [];
  const alone = objects.length === 1 && !objects[0]?.includes('/');
  findings.push(
    alone
      ? {
          status: 'passed',
          type,
          message: 'The container holds one file.',
          detail: printableName(objects[0] ?? ''),
        }
      : {
          status: 'failed',
          type,
          message: 'A container of its kind holds one file, which stands in no folder.',
          detail: objects.slice(0, 10).map(printableName).join(', '),
          subIndication: 'FORMAT_FAILURE',
        },
  );
  const files = container.named('xades', 'cades', 'timestamp');
  if (files.length > 1) {
    findings.push({
      status: 'failed',
      type: 'container.signatures',
      message: 'A container of its kind has one file of signatures.',
      detail: files.slice(0, 10).map(printableName).join(', '),
      subIndication: 'FORMAT_FAILURE',
    });
  }
  return findings;
}

/** Reports evidence records (RFC 4998, RFC 6283) and their manifests: recognised, not evaluated. */
function evidenceRecords(container: Container): Finding[] {
  const records = container.named('evidence-record');
  if (records.length === 0) return [];
  const message = 'The container has evidence records, which are not evaluated.';
  const detail = records.slice(0, 10).map(printableName).join(', ');
  return [{ status: 'warning', type: 'evidence-record', message, detail }];
}

/** Reports a ZIP comment that contradicts the media type, since some readers take it from there. */
function comment({ directory, mimeType: given }: Container): Finding[] {
  const text = directory.comment.toString('latin1');
  // A line end in either of them is a warning about the media type, not another media type.
  if (!text.startsWith('mimetype=') || text.slice('mimetype='.length).trim() === given?.trim()) return [];
  const message = 'The comment of the container names another media type than the container.';
  return [{ status: 'failed', type: 'container.comment', message, subIndication: 'FORMAT_FAILURE' }];
}
