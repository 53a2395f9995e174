/** A visit to a signing provider, as the browser of the participant keeps it, encrypted. Source: docs/decisions/0405-keys-behind-the-network.md. */
import { z } from 'zod';
import { maybeText, members, shown, textUpTo, whole } from '../../fields.ts';
import { disableNotifications } from '../entities.ts';
import { EXAMPLE_IDS } from '../examples.ts';
import { reading } from './reading.ts';
import { filledFields, SIGNING_REFUSALS, severalPositions } from './signing.ts';

/** Request of the signing page before the browser goes to the provider. */
export const providerStart = {
  body: members({
    ticket: shown(textUpTo(2_000), 'Ticket of the participant’s link.', EXAMPLE_IDS.ticket),
    documentVersion: shown(whole.nullish(), 'Version that the participant has seen, from 1.', 1),
    provider: shown(textUpTo(80), 'Name of the provider.', 'acme-trust'),
    culture: shown(maybeText, 'Language of the pages that follow.', 'en'),
    signaturePositions: severalPositions,
    fieldValues: filledFields,
    disableNotifications,
    reading,
  })
    .transform(
      ({ documentVersion, signaturePositions, fieldValues, disableNotifications: quiet, ...rest }) => ({
        ...rest,
        documentVersion: documentVersion ?? undefined,
        positions: signaturePositions ?? [],
        fieldValues: fieldValues ?? undefined,
        isQuiet: quiet === true,
      }),
    )
    .meta({ id: 'ProviderSignatureStart' }),
  reply: z.strictObject({
    address: shown(
      z.string(),
      'Address at the provider, to which the browser goes.',
      'https://remote.example.org/oauth2/authorize?response_type=code',
    ),
  }),
  refusals: [
    ...SIGNING_REFUSALS,
    'DocumentNotRead',
    'InvalidFieldValue',
    'NotFound',
    'ServiceBusy',
    'TooManyRequests',
    'UploadNotFound',
  ],
} as const;

export const providerVisit = z.strictObject({
  step: z.enum(['service', 'choose', 'credential', 'secrets']),
  provider: z.string(),
  /** Of its addresses and client, as they were. */
  stamp: z.string().optional(),
  key: z.string(),
  ticket: z.string(),
  /** Of the document, as the participant was shown it. */
  version: z.int(),
  language: z.string(),
  /** End of the step. */
  until: z.int(),
  verifier: z.string(),
  /** Token of what was prepared, or of the started signature. */
  started: z.string(),
  isQuiet: z.boolean(),
  reading: z
    .strictObject({
      pages: z.string(),
      pageCount: z.int(),
      isDownloaded: z.boolean(),
      isDeclared: z.boolean(),
    })
    .optional(),
  /** Token of the service scope. */
  token: z.string().optional(),
  credential: z.string().optional(),
  /** State of the choice that led to a credential. */
  choice: z.string().optional(),
  /** Attempts with typed values that were refused. */
  refused: z.int().optional(),
  /** Question of the provider. */
  question: z.string().optional(),
  toSign: z.strictObject({ hash: z.string(), digest: z.enum(['sha256', 'sha384', 'sha512']) }).optional(),
});

export type ProviderVisit = z.infer<typeof providerVisit>;
