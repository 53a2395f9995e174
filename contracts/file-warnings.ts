/** Warnings about a file that is signed, in jobs and documents. An additional member of both APIs; none keeps anybody from signing. */
import { z } from 'zod';
import { shown } from './fields.ts';

const CODES = [
  'pdf.hidden-look',
  'pdf.look-differs',
  'pdf.script',
  'pdf.xfa',
  'pdf.layer',
  'pdf.elsewhere',
  'pdf.usage-rights',
  'pdf.pages',
  'pdf.repair',
  'pdf.not-examined',
  'pdf.no-glyph',
] as const;

const fileWarning = z.strictObject({
  code: z.enum(CODES).describe('Kind of the warning. More kinds may follow.'),
  object: shown(z.string(), 'Name of the field, the place, or the letters.', 'total'),
  message: shown(
    z.string(),
    'For people, in English. The text may change.',
    'The field total shows something else than its value.',
  ),
});

export type FileWarning = Readonly<z.output<typeof fileWarning>>;

export const fileWarnings = z
  .array(fileWarning)
  .describe('What the signers may not see in the file. At most five of each code; empty: nothing.');

/** As records hold them: absent for none. */
export interface WarnedFile {
  readonly warnings?: readonly FileWarning[];
}
