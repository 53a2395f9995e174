/** Qualification of signatures by the European trusted lists, in both APIs. */
import { z } from 'zod';
import { entity, shown, time } from './fields.ts';

const word = z
  .enum(['QESig', 'QESeal', 'AdESig-QC', 'AdESeal-QC', 'AdESig', 'AdESeal', 'AdES', 'Unknown', 'NotAdES'])
  .meta({
    description:
      '`QESig`, `QESeal`: qualified. `…-QC`: advanced with a qualified certificate. `AdES…`: advanced. `Unknown`: the lists allow no answer. `NotAdES`: the signature fails.',
    examples: ['QESig'],
  });
const reasons = shown(
  z.array(z.string()),
  'Sentences about what the lists lack, and about a list that ended.',
  ['The list of BE ended on 2026-05-31.'],
);
const isIndeterminate = z
  .boolean()
  .describe('True: not for certain, because the signature is undecided or the list of lists ended.');

const issue = z
  .strictObject({
    sequence: z.int().meta({ description: 'Sequence number of the list.', examples: [42] }),
    issued: time.describe('When it was issued.'),
  })
  .nullable()
  .describe('The list of the country. Null: there is none, or it is not authentic.');

const name = (description: string, example: string) =>
  z
    .string()
    .nullable()
    .meta({ description, examples: [example] });

/** Null without trusted lists. */
export const qualification = entity('Qualification', {
  word,
  isIndeterminate,
  qualifiedFor: z
    .enum(['signature', 'seal', 'web', 'none', 'undetermined'])
    .meta({ description: 'Use that the certificate is qualified for.', examples: ['signature'] }),
  device: z
    .enum(['yes', 'no', 'undetermined'])
    .meta({ description: 'Whether its key is in a qualified device.', examples: ['yes'] }),
  territory: name('Country of the list. Null: the issuer names none.', 'BE'),
  service: name('Listed service behind the certificate. Null: none.', 'Example qualified CA'),
  provider: name('Provider of that service. Null: none.', 'Example Ltd'),
  list: issue,
  reasons,
}).nullable();

/** Null without trusted lists. */
export const timestampQualification = entity('TimestampQualification', {
  word: z.enum(['QTSA', 'TSA', 'Unknown', 'NotTimestamp']).meta({
    description:
      '`QTSA`: of a qualified service. `TSA`: of another. `Unknown`: the lists allow no answer. `NotTimestamp`: it fails.',
    examples: ['QTSA'],
  }),
  isIndeterminate,
  list: issue,
  reasons,
}).nullable();
