/**
 * `POST /api/validate` and its page: validates the signatures of an uploaded file; the result is the validation
 * report of ETSI TS 119 102-2, JSON for clients that ask for it, or, for browsers, a page.
 *
 * Source: docs/batch-values.md §2 for the conventions; ETSI TS 119 102-2 for the report.
 */
import type { Batch, ValidationReport } from '../../actors/index.ts';
import { PASSWORD_HEADER } from '../../contracts/batch/files.ts';
import {
  CERTIFICATES_BYTES,
  type ReportedSignature,
  SIGNED_FORMATS,
  validateFile,
  validatePage,
} from '../../contracts/batch/validation.ts';
import type { Sent } from '../../contracts/operation.ts';
import { isBlank } from '../../contracts/plain-text.ts';
import { Refusal } from '../../machines/refusals.ts';
import { type Frame, framedPage, type LinkGroup } from '../../web/pages/batch/layout.tsx';
import { ReportView, ValidationForm } from '../../web/pages/batch/validation.tsx';
import { asksForJson, prefersHtml } from '../core/accept.ts';
import { page } from '../core/reply.ts';
import type { AnyRoute } from '../core/router.ts';
import { readPassword, readTypedPassword } from './files.ts';
import { handle } from './handle.ts';
import { readUploadForm } from './upload-form.ts';

export interface ValidateRoutesOptions {
  readonly maxUploadBytes: number;
  readonly version: string;
  readonly groups: readonly LinkGroup[];
}

export function validateRoutes(
  validation: Batch['validation'],
  { maxUploadBytes, version, groups }: ValidateRoutesOptions,
): readonly AnyRoute[] {
  const framed = (main: Frame['main'], scopes: Frame['scopes']) =>
    framedPage({
      title: 'Validate',
      path: '/validate',
      groups,
      version,
      styles: ['pages.css'],
      script: 'validate.js',
      main,
      scopes,
    });
  return [
    handle(validatePage, ({ identity }) => page(200, framed(ValidationForm(), identity?.scopes))),
    handle(validateFile, async ({ stream, header, identity }, answer) => {
      if (stream === undefined) throw new Error('The route reads its body as a stream.');
      const password = readPassword(header(PASSWORD_HEADER));
      const upload = await readUploadForm(stream, {
        contentType: header('content-type'),
        contentLength: header('content-length'),
        maxBytes: maxUploadBytes,
        fields: ['format', 'password', 'certificates'],
        maxFieldBytes: CERTIFICATES_BYTES,
        furtherParts: 'content',
        several: () => true,
        open: (fileName) => validation.open(fileName),
      });
      try {
        const { fileName, files, fields, isShortened } = upload;
        if (isShortened)
          throw new Refusal(
            'upload.too-many-files',
            'Send one part `file`, and what it signs as parts `content`.',
          );
        const format = parseFormat(fields.get('format'));
        const { report, xml } = await validation.validate(upload.sink, {
          fileName,
          files,
          format,
          password: password ?? readTypedPassword(fields.get('password')),
          certificates: parseCertificates(fields.get('certificates')),
        });
        const accept = header('accept');
        if (prefersHtml(accept)) return page(200, framed(ReportView({ fileName, report }), identity?.scopes));
        if (asksForJson(accept))
          return answer(200, { ...report, fileName, signatures: report.signatures.map(signatureOf) });
        return {
          kind: 'asset',
          status: 200,
          contentType: 'application/xml; charset=utf-8',
          body: xml,
          headers: [],
        };
      } finally {
        await upload.sink.abort();
      }
    }),
  ];
}

/** Refusals: `validation.body-invalid`. */
function parseCertificates(text = ''): string | undefined {
  if (isBlank(text)) return undefined;
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new Refusal('validation.body-invalid', 'The field certificates holds no certificate in PEM.', {
    errors: { certificates: ['must hold certificates in PEM'] },
  });
}

/** Refusals: `upload.format-unsupported`. */
function parseFormat(text: string | undefined): ValidationReport['format'] | undefined {
  const name = text?.trim().toLowerCase() ?? '';
  if (name === '') return undefined;
  const format = SIGNED_FORMATS.find((one) => one.toLowerCase() === name);
  if (format !== undefined) return format;
  throw new Refusal('upload.format-unsupported', 'The format is not known.', {
    errors: { format: [`must be one of ${SIGNED_FORMATS.join(', ')}`] },
  });
}

type SignatureRecord = ValidationReport['signatures'][number];

function signatureOf(record: SignatureRecord): Sent<ReportedSignature> {
  const { isInContent = false, claimedRoles = [], counterSignatures } = record;
  return { ...record, isInContent, claimedRoles, counterSignatures: counterSignatures.map(signatureOf) };
}
