/**
 * Files, participants, marks, fields and flow actions, in requests and replies.
 *
 * Source: docs/portal-values.md §§5 to 7.
 */
import { z } from 'zod';
import {
  anyText,
  flag,
  id,
  list,
  map,
  maybeFlag,
  maybeText,
  maybeUuid,
  members,
  number,
  REQUIRED,
  text,
  textUpTo,
  time,
  uuid,
  whole,
  word,
} from '../fields.ts';
import type { Value } from '../operation.ts';
import { isBlank } from '../plain-text.ts';
import { participant } from './entities.ts';
import {
  ACTION_STATUSES,
  ACTION_TYPES,
  CERTIFICATE_TYPES,
  CONFIRMATION_FLAGS,
  type ConfirmationFlag,
  FIELD_FORMATS,
  FIELD_TYPES,
  HOLDER_TYPES,
  INITIALS_MODES,
  MARK_TYPES,
  MAX_ACTIONS,
  XADES_IDENTIFIERS,
  XADES_INSERTIONS,
  XADES_TYPES,
} from './words.ts';

const uploadReference = {
  id: uuid.meta({ description: 'Id of the upload.', exampleValue: '9b2f7c1e-4d3a-4f6b-8c5d-7e1f0a2b3c4d' }),
  name: text.meta({ description: 'File name with its extension.', exampleValue: 'contract.pdf' }),
  contentType: text.meta({ description: 'Media type of the content.', exampleValue: 'application/pdf' }),
};

/** A file without a display name. */
export const fileReference = members(uploadReference);

/** A file of an upload; all four are required. */
export const newFile = members({
  displayName: text.meta({
    description: 'Title of the document that is made of the file.',
    exampleValue: 'Lease agreement',
  }),
  ...uploadReference,
}).meta({ id: 'NewFile' });

export const newParticipant = members({
  id: maybeUuid.meta({ description: 'Identifier, unique within the instance.' }),
  name: maybeText.meta({ description: 'Full name of the person.', exampleValue: 'Ana Silva' }),
  identifier: maybeText.meta({
    description:
      'National number or another identifier of the person, at most 50 characters. By configuration its check digits are verified.',
    exampleValue: '52998224725',
  }),
  email: maybeText.meta({
    description: 'E-mail address. Links and codes are sent to it.',
    exampleValue: 'ana@example.com',
  }),
  phone: maybeText.meta({
    description: 'Telephone number with country code. Kept; nothing is sent to it.',
    exampleValue: '+351 912 345 678',
  }),
}).meta({ id: 'NewParticipant' });

export const newObserver = members({
  user: newParticipant.meta({
    description:
      'The person. Name and e-mail address are required, an identifier where certificates are used.',
  }),
}).meta({ id: 'NewObserver' });

/** Place of a box on a page. */
export const box = {
  topLeftX: number.meta({
    description: 'Distance of the box from the left edge of the page, points.',
    exampleValue: 72,
  }),
  topLeftY: number.meta({
    description: 'Distance of the box from the top edge of the page, points.',
    exampleValue: 600,
  }),
  width: number.meta({ description: 'Width of the box, points (1/72 inch).', exampleValue: 180 }),
  height: number.meta({ description: 'Height of the box, points (1/72 inch).', exampleValue: 60 }),
  pageNumber: whole
    .nullish()
    .meta({ description: 'Page of the box, from 1. Absent: the last page.', exampleValue: 1 }),
};

export const newMark = members({
  type: word(MARK_TYPES).nullish().meta({
    description:
      'What is drawn: the signature, initials, or a stamp. Default `SignatureVisualRepresentation`.',
  }),
  uploadId: maybeText.meta({
    description: 'File to which this belongs, where the request has several.',
    exampleValue: '9b2f7c1e-4d3a-4f6b-8c5d-7e1f0a2b3c4d',
  }),
  ...box,
  fontSize: number
    .nullish()
    .meta({ description: 'Size of the text, points. Absent: it is fitted to the box.', exampleValue: 10 }),
}).meta({ id: 'NewMark' });

/** Bound of a list, with the refusal of the service for what changes make longer. */
export function atMost(most: number, what: string) {
  return { most, refusal: { code: 'LimitExceeded', message: `There may be at most ${most} ${what}.` } };
}

/** A value of a field, which its rules check. */
export const newFieldValue = z.union([anyText, number, flag], {
  error: 'must be a string, a number, true or false',
});

export const newField = members({
  name: textUpTo(100)
    .refine((given) => !isBlank(given), { error: REQUIRED })
    .meta({
      description:
        'Identifies the field in values and webhooks. Unique in the document, at most 100 characters.',
      exampleValue: 'city',
    }),
  type: word(FIELD_TYPES).nullish().meta({ description: 'Kind of value. Default `Text`.' }),
  label: maybeText.meta({ description: 'Text that people read. Absent: the name.', exampleValue: 'City' }),
  required: maybeFlag.meta({
    description: 'Whether the participant cannot sign without a value. Default false.',
  }),
  uploadId: maybeText.meta({
    description: 'File to which this belongs, where the request has several.',
    exampleValue: '9b2f7c1e-4d3a-4f6b-8c5d-7e1f0a2b3c4d',
  }),
  topLeftX: number
    .nullish()
    .meta({ description: 'Distance of the box from the left edge of the page, points.', exampleValue: 72 }),
  topLeftY: number
    .nullish()
    .meta({ description: 'Distance of the box from the top edge of the page, points.', exampleValue: 600 }),
  width: number.nullish().meta({ description: 'Width of the box, points (1/72 inch).', exampleValue: 180 }),
  height: number.nullish().meta({ description: 'Height of the box, points (1/72 inch).', exampleValue: 60 }),
  pageNumber: whole
    .nullish()
    .meta({ description: 'Page of the box, from 1. Absent: the last page.', exampleValue: 1 }),
  formField: maybeText.meta({
    description:
      'Name of the field in the PDF’s own form (AcroForm) that gives place and type. Absent: the coordinates do.',
    exampleValue: 'City',
  }),
  maxLength: whole
    .nullish()
    .meta({ description: 'Most characters of the value, up to 2,000. Default 500.', exampleValue: 100 }),
  format: word(FIELD_FORMATS)
    .nullish()
    .meta({ description: 'Rule that the text must follow. Null: any text.' }),
  minimum: number
    .nullish()
    .meta({ description: 'Least number that is accepted. Absent: any.', exampleValue: 0 }),
  maximum: number
    .nullish()
    .meta({ description: 'Greatest number that is accepted. Absent: any.', exampleValue: 1000 }),
  options: list(text, { most: 100 })
    .nullish()
    .meta({
      description: 'Values of a choice, at most 100. Required for the type `Choice`.',
      exampleValue: ['Lisbon', 'Porto'],
    }),
  value: newFieldValue
    .nullish()
    .meta({ description: 'Filled in by the sender; the participant may change it.', exampleValue: 'lease' }),
  readOnly: maybeFlag.meta({ description: 'True: the participant cannot change the value.' }),
}).meta({ id: 'NewField' });

const xadesOptions = members({
  signatureType: word(XADES_TYPES)
    .nullish()
    .meta({ description: 'Which part of the XML file is signed. Absent: the whole file.' }),
  elementToSignIdentifierType: word(XADES_IDENTIFIERS).nullish().meta({
    description:
      'How `elementToSignIdentifier` selects the element. Required where the type signs one element.',
  }),
  elementToSignIdentifier: maybeText.meta({
    description: 'Id or XPath expression that selects the element to sign.',
    exampleValue: 'prescription-1',
  }),
  insertionOption: word(XADES_INSERTIONS).nullish().meta({
    description: 'Where the XML signature is inserted, relative to the element. Absent: as its last child.',
  }),
  disableXPathTransformation: maybeFlag.meta({
    description: 'Whether the signature references its element by `Id` alone. Default false. XML only.',
  }),
}).meta({ id: 'NewXadesOptions' });

const CONFIRMATION = {
  description:
    'Requires this confirmation before an electronic signature. This service has no provider for it: true is refused.',
  exampleValue: false,
};

function confirmationFlags<Flag extends z.ZodType>(one: Flag): Record<ConfirmationFlag, Flag> {
  return Object.fromEntries(CONFIRMATION_FLAGS.map((name) => [name, one])) as Record<ConfirmationFlag, Flag>;
}

export const flowActionMembers = {
  type: word(ACTION_TYPES)
    .nullish()
    .meta({ description: 'Kind of action: of one person, or of several by a rule. Default `Signer`.' }),
  step: whole.nullish().meta({
    description: 'Place in the order, from 0; actions of the same step act in parallel. Default 0.',
    exampleValue: 1,
  }),
  user: newParticipant.nullish().meta({
    description:
      'The person. Name and e-mail address are required, an identifier where certificates are used.',
  }),
  title: maybeText.meta({
    description: 'Role of the participant, shown on pages and used by saved flows.',
    exampleValue: 'Tenant',
  }),
  allowElectronicSignature: maybeFlag.meta({
    description:
      'Whether the participant may sign without a certificate. Default false: a certificate is required.',
  }),
  prePositionedMarks: list(newMark).nullish().meta({
    description:
      'Places of signature and initials, at most 1,000. Absent: the participant chooses, or the end of the document.',
  }),
  ruleName: maybeText.meta({
    description: 'Name of the rule, such as of a board. Required for `SignRule` and `ApproverRule`.',
    exampleValue: 'Board of directors',
  }),
  numberRequiredSignatures: whole.nullish().meta({
    description:
      'How many people of a rule must act. Required for `SignRule`; for `ApproverRule` the default is 1. Ignored for others.',
    exampleValue: 2,
  }),
  signRuleUsers: list(newParticipant, atMost(MAX_ACTIONS, 'users of a rule')).nullish().meta({
    description:
      'People of a rule, any of whom may act until enough have. Required for `SignRule` and `ApproverRule`.',
  }),
  allowRuleFlowToContinueIfRefused: maybeFlag.meta({
    description:
      'For rules: the flow goes on while enough other people of the rule can still act. Default false: one refusal refuses the document.',
  }),
  ...confirmationFlags(maybeFlag.meta(CONFIRMATION)),
  disableEmailAuthenticationToSignElectronically: maybeFlag.meta({
    description:
      'Whether an electronic signature needs no code by e-mail, also where the configuration asks for one. Default false.',
  }),
  requiredCertificateTypeToSign: word(CERTIFICATE_TYPES)
    .nullish()
    .meta({ description: 'Type of the certificate. Null: any. Ignored for electronic signatures.' }),
  requiredCertificateHolderTypeToSign: word(HOLDER_TYPES).nullish().meta({
    description: 'Holder that the certificate must have. Null: any. Ignored for electronic signatures.',
  }),
  requireCompanyCertificate: maybeFlag.meta({
    description: 'Whether only a certificate that names a company is accepted. Default false.',
  }),
  requiredCompanyIdentifier: maybeText.meta({
    description: 'Number of the company that the certificate must have. Null: any.',
    exampleValue: '11222333000181',
  }),
  signatureInitialsMode: word(INITIALS_MODES).nullish().meta({
    description:
      'Whether the participant puts initials on each page, of which a document then has at most 999. Null: `None`.',
  }),
  xadesOptions: xadesOptions
    .nullish()
    .meta({ description: 'How XML files are signed (XAdES). Ignored for other files.' }),
  fields: list(newField, { most: 100 })
    .nullish()
    .meta({ description: 'Fields that the participant fills in before signing. At most 100.' }),
};

export const newFlowAction = members(flowActionMembers).meta({ id: 'NewFlowAction' });

/** People for the roles of a saved flow or template. */
export const roles = list(
  members({
    role: textUpTo(500).meta({
      description: 'Title of the flow actions that this person takes, in any case.',
      exampleValue: 'Tenant',
    }),
    user: newParticipant.meta({
      description:
        'The person. Name and e-mail address are required, an identifier where certificates are used.',
    }),
  }),
  { most: 100 },
)
  .nullish()
  .describe(
    'People for the roles of the saved flow or template. Every role without a person of its own needs one.',
  );

export const fieldValues = map(newFieldValue.nullable())
  .nullish()
  .meta({
    description: 'Values by name of field; participants may change those of fields that are not read-only.',
    exampleValue: { city: 'Lisbon' },
  });

/** A person for the actions of a title, in any case. */
export type NewRole = NonNullable<Value<typeof roles>>[number];
/** Values by name of field. */
export type NewFieldValues = NonNullable<Value<typeof fieldValues>>;
export type NewFile = Value<typeof newFile>;
export type NewParticipant = Value<typeof newParticipant>;
export type NewMark = Value<typeof newMark>;
export type NewField = Value<typeof newField>;
export type NewFlowAction = Value<typeof newFlowAction>;

const mark = z
  .strictObject({
    type: z.enum(MARK_TYPES).meta({ description: 'What is drawn: the signature, initials, or a stamp.' }),
    topLeftX: z
      .number()
      .meta({ description: 'Distance of the box from the left edge of the page, points.', exampleValue: 72 }),
    topLeftY: z
      .number()
      .meta({ description: 'Distance of the box from the top edge of the page, points.', exampleValue: 600 }),
    width: z.number().meta({ description: 'Width of the box, points (1/72 inch).', exampleValue: 180 }),
    height: z.number().meta({ description: 'Height of the box, points (1/72 inch).', exampleValue: 60 }),
    pageNumber: z
      .int()
      .nullable()
      .meta({ description: 'Page of the box, from 1. Absent: the last page.', exampleValue: 1 }),
    fontSize: z
      .number()
      .nullable()
      .meta({ description: 'Size of the text, points. Absent: it is fitted to the box.', exampleValue: 10 }),
  })
  .meta({ id: 'Mark', description: 'PDF points from the top left corner of the page.' });

const ruleUser = participant
  .extend({
    signatureDate: time
      .nullable()
      .meta({ description: 'Time at which the person signed or approved. Null: not yet.' }),
    isElectronic: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether the service signed for the person, who had no certificate.' }),
    refusalDate: time
      .nullable()
      .meta({ description: 'Time at which the person refused. Null: not refused.' }),
    hasRefused: z.boolean().meta({ description: 'Whether this person refused.' }),
    refusalReason: z.string().nullable().meta({
      description: 'Why the person refused. Null: not refused.',
      exampleValue: 'The price has changed.',
    }),
  })
  .meta({ id: 'RuleUser' });

const field = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    name: z
      .string()
      .meta({ description: 'Identifies the field in values and webhooks.', exampleValue: 'city' }),
    type: z.enum(FIELD_TYPES).meta({ description: 'Kind of value.' }),
    label: z.string().meta({ description: 'Text that people read.', exampleValue: 'City' }),
    required: z
      .boolean()
      .meta({ description: 'Whether the participant cannot sign without a value. Default false.' }),
    topLeftX: z
      .number()
      .nullable()
      .meta({ description: 'Distance of the box from the left edge of the page, points.', exampleValue: 72 }),
    topLeftY: z
      .number()
      .nullable()
      .meta({ description: 'Distance of the box from the top edge of the page, points.', exampleValue: 600 }),
    width: z
      .number()
      .nullable()
      .meta({ description: 'Width of the box, points (1/72 inch).', exampleValue: 180 }),
    height: z
      .number()
      .nullable()
      .meta({ description: 'Height of the box, points (1/72 inch).', exampleValue: 60 }),
    pageNumber: z
      .int()
      .nullable()
      .meta({ description: 'Page of the box, from 1. Absent: the last page.', exampleValue: 1 }),
    formField: z.string().nullable().meta({
      description:
        'Name of the field in the PDF’s own form (AcroForm) that gives place and type. Absent: the coordinates do.',
      exampleValue: 'City',
    }),
    maxLength: z
      .int()
      .meta({ description: 'Most characters of the value, up to 2,000. Default 500.', exampleValue: 100 }),
    format: z
      .enum(FIELD_FORMATS)
      .nullable()
      .meta({ description: 'Rule that the text must follow. Null: any text.' }),
    minimum: z
      .number()
      .nullable()
      .meta({ description: 'Least number that is accepted. Absent: any.', exampleValue: 0 }),
    maximum: z
      .number()
      .nullable()
      .meta({ description: 'Greatest number that is accepted. Absent: any.', exampleValue: 1000 }),
    options: z
      .array(z.string())
      .meta({ description: 'Values of a choice; empty for other types.', exampleValue: ['Lisbon', 'Porto'] }),
    value: z
      .string()
      .nullable()
      .meta({ description: 'Filled in by the participant; null until then.', exampleValue: 'Lisbon' }),
    presetValue: z
      .string()
      .nullable()
      .meta({ description: 'Filled in by the sender; null: nothing.', exampleValue: 'Lisbon' }),
    readOnly: z.boolean().describe('True: the participant cannot change the value of the sender.'),
  })
  .meta({ id: 'DocumentField' });

export const flowAction = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    type: z
      .enum(ACTION_TYPES)
      .meta({ description: 'Kind of action: of one person, or of several by a rule.' }),
    status: z.enum(ACTION_STATUSES).meta({
      description: '`Created`: an earlier step is not completed; `Pending`: the participant can act.',
    }),
    step: z.int().meta({
      description: 'Place in the order, from 0; actions of the same step act in parallel. Default 0.',
      exampleValue: 1,
    }),
    user: participant.nullable().meta({ description: 'Participant. Null for rules.' }),
    title: z.string().nullable().meta({
      description: 'Role of the participant, shown on pages and used by saved flows.',
      exampleValue: 'Tenant',
    }),
    allowElectronicSignature: z
      .boolean()
      .meta({ description: 'Whether the participant may sign without a certificate.', exampleValue: true }),
    creationDate: time.meta({ description: 'Time of the creation, UTC.' }),
    updateDate: time.meta({ description: 'Time of the last change, UTC.' }),
    pendingDate: time
      .nullable()
      .meta({ description: 'Time from which the participant could act. Null: not yet.' }),
    refusalReason: z.string().nullable().meta({
      description: 'Why the participant refused. Null: not refused.',
      exampleValue: 'The price has changed.',
    }),
    isElectronic: z.boolean().nullable().meta({
      description: 'Whether the action was done without a certificate. Null: not done, or an approval.',
    }),
    marks: z.array(mark).meta({ description: 'Places of signature and initials.' }),
    ruleName: z.string().nullable().meta({
      description: 'Name of the rule, such as of a board. Required for `SignRule` and `ApproverRule`.',
      exampleValue: 'Board of directors',
    }),
    numberRequiredSignatures: z.int().meta({
      description:
        'How many people of a rule must act. Required for `SignRule`; for `ApproverRule` the default is 1. Ignored for others.',
      exampleValue: 2,
    }),
    allowRuleFlowToContinueIfRefused: z.boolean().meta({
      description:
        'For rules: the flow goes on while enough other people of the rule can still act. Default false: one refusal refuses the document.',
    }),
    signRuleUsers: z.array(ruleUser).meta({
      description: 'People of a rule with their signatures and refusals. Empty for single participants.',
    }),
    ...confirmationFlags(z.boolean().meta(CONFIRMATION)),
    requireEmailAuthenticationToSignElectronically: z
      .boolean()
      .meta({ description: 'Whether an electronic signature needs a code of six digits by e-mail.' }),
    disableEmailAuthenticationToSignElectronically: z.boolean().meta({
      description:
        'Whether an electronic signature needs no code by e-mail, also where the configuration asks for one. Default false.',
    }),
    requiredCertificateTypeToSign: z
      .enum(CERTIFICATE_TYPES)
      .nullable()
      .meta({ description: 'Type of the certificate. Null: any. Ignored for electronic signatures.' }),
    requiredCertificateHolderTypeToSign: z.enum(HOLDER_TYPES).nullable().meta({
      description: 'Holder that the certificate must have. Null: any. Ignored for electronic signatures.',
    }),
    requireCompanyCertificate: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether only a certificate that names a company is accepted. Default false.' }),
    requiredCompanyIdentifier: z.string().nullable().meta({
      description: 'Number of the company that the certificate must have. Null: any.',
      exampleValue: '11222333000181',
    }),
    signatureInitialsMode: z.enum(INITIALS_MODES).nullable().meta({
      description:
        'Whether the participant puts initials on each page, of which a document then has at most 999. Null: `None`.',
    }),
    fields: z.array(field).optional().describe('Left out where the participant has none.'),
  })
  .meta({ id: 'FlowAction' });

export type FlowActionView = Value<typeof flowAction>;
