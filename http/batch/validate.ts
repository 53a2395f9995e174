/**
 * `POST /api/validate` and its page: validates the signatures of an uploaded file; the result is the validation
 * report of ETSI TS 119 102-2, JSON for clients that ask for it, or, for browsers, a page.
 *
 * Source: docs/batch-values.md §2 for the conventions; ETSI TS 119 102-2 for the report.
 */
import { z } from 'zod';
import type { BatchService, SignedFormat } from '../../actors/batch/api/service.ts';
import { Refusal } from '../../machines/refusals.ts';
import { framedPage, type PageLink } from '../../web/batch/layout.ts';
import { VALIDATION_FORM, validationPage } from '../../web/batch/validation.ts';
import type { Html } from '../../web/html.ts';
import { asksForJson, prefersHtml } from '../core/accept.ts';
import { json, page } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { VALIDATION_BODY } from './description/example-values.ts';
import { PASSWORD_HEADER, readPassword, readTypedPassword } from './files.ts';
import { noBody, noParams, noQuery } from './queries.ts';
import { readUploadForm } from './upload-form.ts';
import { validationBody, validationShape } from './validation-shape.ts';

const FORMATS: readonly SignedFormat[] = ['Pades', 'Cades', 'Xades', 'Asic'];

const validateForm = z.object({
  file: z.file().describe('The signed file; the first part that has a file name.'),
  content: z
    .array(z.file().meta({ contentMediaType: 'application/octet-stream' }))
    .max(99)
    .optional()
    .describe(
      'Files that a detached signature is over, after the signed file; the part may occur several times.',
    ),
  format: z
    .string()
    .max(16)
    .optional()
    .meta({
      description: 'Pades, Cades, Xades or Asic; left out, it is found out from the content.',
      examples: ['Pades'],
    }),
  password: z
    .string()
    .max(127)
    .optional()
    .describe(
      'Password of an encrypted PDF, for the form of the page; programs send the header X-Document-Password, which takes precedence.',
    ),
});

export interface ValidateRoutesOptions {
  readonly maxUploadBytes: number;
  readonly version: string;
  readonly links: readonly PageLink[];
}

const invalidInput = {
  params: 'route.not-found',
  query: 'validation.filter-invalid',
  body: 'validation.body-invalid',
} as const;

export function validateRoutes(
  service: Pick<BatchService, 'validation'>,
  { maxUploadBytes, version, links }: ValidateRoutesOptions,
): readonly AnyRoute[] {
  const framed = (main: Html) =>
    framedPage({
      title: 'Validate',
      path: '/validate',
      links,
      version,
      styles: ['pages.css'],
      main,
    });
  return [
    route({
      method: 'GET',
      path: '/validate',
      group: 'Pages',
      summary: 'A page for people: validates the signatures of a file.',
      description: 'Sends the chosen file to `POST /api/validate` and shows its answer.',
      auth: 'page',
      rate: 'none',
      bodyPolicy: 'none',
      headers: [],
      params: noParams,
      query: noQuery,
      body: noBody,
      invalidInput,
      responses: { 200: 'page' },
      refusals: [],
      handle: () => page(200, framed(VALIDATION_FORM)),
    }),
    route({
      method: 'POST',
      path: '/api/validate',
      group: 'Files',
      summary: 'Validates the signatures of a file and answers with the report of ETSI TS 119 102-2.',
      description:
        'A form with one part `file`, and `format` where the content is ambiguous. `Signing:Trust` and the anchors of all profiles are trusted. The file is validated in the pool and removed. Clients that prefer HTML get a page, those that name `application/json` in `Accept` the same checks as JSON, and all others the XML report of ETSI TS 119 102-2. `TOTAL-PASSED`: every signature is valid. A detached signature needs the files that it is over, in parts `content` after the signed file.',
      auth: 'operator',
      rate: 'upload',
      bodyPolicy: 'stream',
      headers: ['content-type', 'content-length', 'accept', PASSWORD_HEADER],
      params: noParams,
      query: noQuery,
      body: validateForm,
      invalidInput,
      responses: { 200: [validationShape, 'xml', 'page'] },
      examples: { responses: { 200: VALIDATION_BODY } },
      refusals: [
        'upload.empty',
        'upload.too-large',
        'upload.invalid-name',
        'upload.too-many-files',
        'upload.format-unsupported',
        'validation.body-invalid',
        'job.path-too-long',
        'service.busy',
      ],
      async handle({ stream, header }) {
        if (stream === undefined) throw new Error('The route reads its body as a stream.');
        const { validation } = service;
        if (validation === undefined) throw new Refusal('service.busy', 'Nothing validates here.');
        const password = readPassword(header(PASSWORD_HEADER));
        const upload = await readUploadForm(stream, {
          contentType: header('content-type'),
          contentLength: header('content-length'),
          maxBytes: maxUploadBytes,
          fields: ['format', 'password'],
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
          });
          const accept = header('accept');
          if (prefersHtml(accept)) return page(200, framed(validationPage(fileName, report)));
          if (asksForJson(accept)) return json(200, validationBody(fileName, report));
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
      },
    }),
  ];
}

/** Refusals: `upload.format-unsupported`. */
function parseFormat(text: string | undefined): SignedFormat | undefined {
  const name = text?.trim().toLowerCase() ?? '';
  if (name === '') return undefined;
  const format = FORMATS.find((one) => one.toLowerCase() === name);
  if (format !== undefined) return format;
  throw new Refusal('upload.format-unsupported', 'The format is not known.', {
    errors: { format: ['must be Pades, Cades, Xades or Asic'] },
  });
}
