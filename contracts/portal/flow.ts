/**
 * Files, participants, marks, fields and flow actions, in requests and replies.
 *
 * Source: docs/portal-values.md §§5 to 7.
 */

import { z } from 'zod';
import {
  anyText,
  entity,
  flag,
  list,
  map,
  maybeFlag,
  maybeText,
  maybeUuid,
  members,
  number,
  REQUIRED,
  shown,
  text,
  textUpTo,
  time,
  uuid,
  whole,
  word,
} from '../fields.ts';
import type { Value } from '../operation.ts';
import { isBlank } from '../plain-text.ts';
import {
  creationDate,
  identity,
  newTitle,
  participant,
  participantIdentifier,
  updateDate,
} from './entities.ts';
import {
  ACTION_STATUSES,
  ACTION_TYPES,
  CERTIFICATE_TYPES,
  CONDITION_OPERATORS,
  CONFIRMATION_FLAGS,
  CONFIRMATIONS,
  type Confirmation,
  type ConfirmationFlag,
  FIELD_FORMATS,
  FIELD_TYPES,
  HOLDER_TYPES,
  INITIALS_MODES,
  LANGUAGES,
  MARK_TYPES,
  MAX_ACTIONS,
  XADES_IDENTIFIERS,
  XADES_INSERTIONS,
  XADES_TYPES,
} from './words.ts';

const uploadReference = {
  id: shown(uuid, 'Id of the upload.', '9b2f7c1e-4d3a-4f6b-8c5d-7e1f0a2b3c4d'),
  name: shown(text, 'File name with its extension.', 'contract.pdf'),
  contentType: shown(text, 'Media type of the content.', 'application/pdf'),
};

/** A file without a display name. */
export const fileReference = members(uploadReference);

/** A file of an upload; all four are required. */
export const newFile = members({
  displayName: newTitle,
  ...uploadReference,
}).meta({ id: 'NewFile' });

const newParticipant = members({
  id: maybeUuid.describe('Identifier, unique within the instance.'),
  name: shown(maybeText, 'Full name of the person.', 'Ana Silva'),
  identifier: participantIdentifier,
  email: shown(maybeText, 'E-mail address. Links and codes are sent to it.', 'ana@example.com'),
  phone: shown(
    maybeText,
    'Telephone number with country code. Codes are sent to it where the action requires that.',
    '+351 912 345 678',
  ),
  language: word(LANGUAGES)
    .nullish()
    .describe(
      'Language of the mails, codes and pages of the person. Absent: mails have that of the organization, pages that of the browser.',
    ),
}).meta({ id: 'NewParticipant' });

const person = newParticipant.describe(
  'The person. Name and e-mail address are required, an identifier where certificates are used.',
);

export const newObserver = members({
  user: person,
}).meta({ id: 'NewObserver' });

const ownUploadId = shown(
  maybeText,
  'File to which this belongs, where the request has several.',
  '9b2f7c1e-4d3a-4f6b-8c5d-7e1f0a2b3c4d',
);
const shownPage = shown(z.int().nullable(), 'Page of the box, from 1. Absent: the last page.', 1);
const givenPage = shown(whole.nullish(), 'Page of the box, from 1. Absent: the last page.', 1);

/** Place of a box on a page. */
export const box = {
  topLeftX: shown(number, 'Distance of the box from the left edge of the page, points.', 72),
  topLeftY: shown(number, 'Distance of the box from the top edge of the page, points.', 600),
  width: shown(number, 'Width of the box, points (1/72 inch).', 180),
  height: shown(number, 'Height of the box, points (1/72 inch).', 60),
  pageNumber: givenPage,
};

export const newMark = members({
  type: word(MARK_TYPES)
    .nullish()
    .describe('What is drawn: the signature, initials, or a stamp. Default `SignatureVisualRepresentation`.'),
  uploadId: ownUploadId,
  ...box,
  fontSize: shown(number.nullish(), 'Size of the text, points. Absent: it is fitted to the box.', 10),
}).meta({ id: 'NewMark' });

/** Bound of a list, with the refusal of the service for what changes make longer. */
export function atMost(most: number, what: string) {
  return { most, refusal: { code: 'LimitExceeded', message: `There may be at most ${most} ${what}.` } };
}

/** A value of a field, which its rules check. */
const newFieldValue = z.union([anyText, number, flag], {
  error: 'must be a string, a number, true or false',
});

const testedField = shown(textUpTo(100), 'Name of another field of the document.', 'plan');
const operator = 'Comparison with the value of the field; docs/fields.md says which type of field has which.';
const newTests = list(
  members({
    field: testedField,
    operator: word(CONDITION_OPERATORS).describe(operator),
    value: shown(
      z
        .union([textUpTo(200), number, flag], { error: 'must be a string, a number, true or false' })
        .nullish(),
      'What the value is compared with. Absent for `IsFilled` and `IsEmpty`.',
      'Full',
    ),
  }).meta({ id: 'NewConditionTest' }),
  { most: 20 },
).nullish();
const newCondition = members({
  all: newTests.describe('Tests that must all hold, at most 20.'),
  any: newTests.describe('Tests of which one must hold, at most 20.'),
}).meta({
  id: 'NewFieldCondition',
  description: 'Needs tests in `all` or `any`; with both, both must hold.',
});

export const newField = members({
  name: shown(
    textUpTo(100).refine((given) => !isBlank(given), { error: REQUIRED }),
    'Identifies the field in values and webhooks. Unique in the document, at most 100 characters.',
    'city',
  ),
  type: word(FIELD_TYPES).nullish().describe('Kind of value. Default `Text`.'),
  label: shown(maybeText, 'Text that people read. Absent: the name.', 'City'),
  required: maybeFlag.describe('Whether the participant cannot sign without a value. Default false.'),
  uploadId: ownUploadId,
  topLeftX: shown(number.nullish(), 'Distance of the box from the left edge of the page, points.', 72),
  topLeftY: shown(number.nullish(), 'Distance of the box from the top edge of the page, points.', 600),
  width: shown(number.nullish(), 'Width of the box, points (1/72 inch).', 180),
  height: shown(number.nullish(), 'Height of the box, points (1/72 inch).', 60),
  pageNumber: givenPage,
  formField: shown(
    maybeText,
    'Name of the field in the PDF’s own form (AcroForm) that gives place and type. Absent: the coordinates do.',
    'City',
  ),
  maxLength: shown(whole.nullish(), 'Most characters of the value, up to 2,000. Default 500.', 100),
  format: word(FIELD_FORMATS).nullish().describe('Rule that the text must follow. Null: any text.'),
  minimum: shown(number.nullish(), 'Least number that is accepted. Absent: any.', 0),
  maximum: shown(number.nullish(), 'Greatest number that is accepted. Absent: any.', 1000),
  options: shown(
    list(text, { most: 100 }).nullish(),
    'Values of a choice, at most 100. Required for the type `Choice`.',
    ['Lisbon', 'Porto'],
  ),
  value: shown(newFieldValue.nullish(), 'Filled in by the sender; the participant may change it.', 'lease'),
  readOnly: maybeFlag.describe('True: the participant cannot change the value.'),
  shownWhen: newCondition
    .nullish()
    .describe(
      'When the field is shown; hidden, it has no value and is not in the signed file. Absent: always.',
    ),
  requiredWhen: newCondition
    .nullish()
    .describe('When a field that is shown must have a value. Absent: as `required` says.'),
}).meta({ id: 'NewField' });

const xadesOptions = members({
  signatureType: word(XADES_TYPES)
    .nullish()
    .describe('Which part of the XML file is signed. Absent: the whole file.'),
  elementToSignIdentifierType: word(XADES_IDENTIFIERS)
    .nullish()
    .describe(
      'How `elementToSignIdentifier` selects the element. Required where the type signs one element.',
    ),
  elementToSignIdentifier: shown(
    maybeText,
    'Id or XPath expression that selects the element to sign.',
    'prescription-1',
  ),
  insertionOption: word(XADES_INSERTIONS)
    .nullish()
    .describe('Where the XML signature is inserted, relative to the element. Absent: as its last child.'),
  disableXPathTransformation: maybeFlag.describe(
    'Whether the signature references its element by `Id` alone. Default false. XML only.',
  ),
}).meta({ id: 'NewXadesOptions' });

const CONFIRMATION = {
  description:
    'Requires this confirmation before an electronic signature. `Sms` and `Whatsapp` need `Portal:MessageGateway` and the phone of the user; others are refused.',
  exampleValue: false,
};

/** A member for each confirmation that an action can require. */
export function confirmationFlags<Flag>(flagOf: (one: Confirmation) => Flag): Record<ConfirmationFlag, Flag> {
  const flags = CONFIRMATION_FLAGS.map((name) => [name, flagOf(CONFIRMATIONS[name])]);
  return Object.fromEntries(flags) as Record<ConfirmationFlag, Flag>;
}

export const flowActionMembers = {
  type: word(ACTION_TYPES)
    .nullish()
    .describe('Kind of action: of one person, or of several by a rule. Default `Signer`.'),
  step: shown(
    whole.nullish(),
    'Place in the order, from 0; actions of the same step act in parallel. Default 0.',
    1,
  ),
  user: newParticipant
    .nullish()
    .describe('The person. Name and e-mail address are required, an identifier where certificates are used.'),
  title: shown(maybeText, 'Role of the participant, shown on pages and used by saved flows.', 'Tenant'),
  allowElectronicSignature: maybeFlag.describe(
    'Whether the participant may sign without a certificate. Default false: a certificate is required.',
  ),
  prePositionedMarks: list(newMark)
    .nullish()
    .describe(
      'Places of signature and initials, at most 1,000. Absent: the participant chooses, or the end of the document.',
    ),
  ruleName: shown(
    maybeText,
    'Name of the rule, such as of a board. Required for `SignRule` and `ApproverRule`.',
    'Board of directors',
  ),
  numberRequiredSignatures: shown(
    whole.nullish(),
    'How many people of a rule must act. Required for `SignRule`; for `ApproverRule` the default is 1. Ignored for others.',
    2,
  ),
  signRuleUsers: list(newParticipant, atMost(MAX_ACTIONS, 'users of a rule'))
    .nullish()
    .describe(
      'People of a rule, any of whom may act until enough have. Required for `SignRule` and `ApproverRule`.',
    ),
  allowRuleFlowToContinueIfRefused: maybeFlag.describe(
    'For rules: the flow goes on while enough other people of the rule can still act. Default false: one refusal refuses the document.',
  ),
  allowPassingOn: maybeFlag.describe(
    'Whether the participant may hand the action on to another person, who acts instead. Ignored for rules. Default false.',
  ),
  ...confirmationFlags(() => maybeFlag.meta(CONFIRMATION)),
  disableEmailAuthenticationToSignElectronically: maybeFlag.describe(
    'Whether an electronic signature needs no code by e-mail. Only with a code by SMS or WhatsApp. Default false.',
  ),
  requiredCertificateTypeToSign: word(CERTIFICATE_TYPES)
    .nullish()
    .describe('Type of the certificate. Null: any. Ignored for electronic signatures.'),
  requiredCertificateHolderTypeToSign: word(HOLDER_TYPES)
    .nullish()
    .describe('Holder that the certificate must have. Null: any. Ignored for electronic signatures.'),
  requireCompanyCertificate: maybeFlag.describe(
    'Whether only a certificate that names a company is accepted. Default false.',
  ),
  requiredCompanyIdentifier: shown(
    maybeText,
    'Number of the company that the certificate must have. Null: any.',
    '11222333000181',
  ),
  signatureInitialsMode: word(INITIALS_MODES)
    .nullish()
    .describe(
      'Whether the participant puts initials on each page, of which a document then has at most 999. Null: `None`.',
    ),
  xadesOptions: xadesOptions.nullish().describe('How XML files are signed (XAdES). Ignored for other files.'),
  takesPartWhen: newCondition
    .nullish()
    .describe(
      'Decided when the step begins, by fields of earlier steps; otherwise the action is `Skipped`. Absent: always.',
    ),
  fields: list(newField, { most: 100 })
    .nullish()
    .describe('Fields that the participant fills in before signing. At most 100.'),
};

export const newFlowAction = members(flowActionMembers).meta({ id: 'NewFlowAction' });

/** People for the roles of a saved flow or template. */
export const roles = list(
  members({
    role: shown(textUpTo(500), 'Title of the flow actions that this person takes, in any case.', 'Tenant'),
    user: person,
  }),
  { most: 100 },
)
  .nullish()
  .describe(
    'People for the roles of the saved flow or template. Every role without a person of its own needs one.',
  );

export const fieldValues = shown(
  map(newFieldValue.nullable()).nullish(),
  'Values by name of field; participants may change those of fields that are not read-only.',
  { city: 'Lisbon' },
);

/** Fields that the sender can fill, each name once. */
export function senderFields({
  flowActions,
}: {
  readonly flowActions: readonly Pick<NewFlowAction, 'fields'>[];
}): readonly NewField[] {
  const fields = flowActions.flatMap((action) => action.fields ?? []);
  const byName = new Map(fields.map((field) => [field.name.trim(), field]));
  return [...byName.values()].filter(
    ({ type, readOnly }) => type !== 'Attachment' && (type !== 'Initials' || readOnly === true),
  );
}

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
    type: z.enum(MARK_TYPES).describe('What is drawn: the signature, initials, or a stamp.'),
    topLeftX: shown(z.number(), 'Distance of the box from the left edge of the page, points.', 72),
    topLeftY: shown(z.number(), 'Distance of the box from the top edge of the page, points.', 600),
    width: shown(z.number(), 'Width of the box, points (1/72 inch).', 180),
    height: shown(z.number(), 'Height of the box, points (1/72 inch).', 60),
    pageNumber: shownPage,
    fontSize: shown(z.number().nullable(), 'Size of the text, points. Absent: it is fitted to the box.', 10),
  })
  .meta({ id: 'Mark', description: 'PDF points from the top left corner of the page.' });

const ruleUser = participant
  .extend({
    signatureDate: time.nullable().describe('Time at which the person signed or approved. Null: not yet.'),
    isElectronic: z
      .boolean()
      .nullable()
      .describe('Whether the service signed for the person, who had no certificate.'),
    refusalDate: time.nullable().describe('Time at which the person refused. Null: not refused.'),
    hasRefused: z.boolean().describe('Whether this person refused.'),
    refusalReason: shown(
      z.string().nullable(),
      'Why the person refused. Null: not refused.',
      'The price has changed.',
    ),
  })
  .meta({ id: 'RuleUser' });

const tests = z
  .array(
    entity('ConditionTest', {
      field: testedField,
      operator: z.enum(CONDITION_OPERATORS).describe(operator),
      value: shown(z.string().optional(), 'What the value is compared with.', 'Full'),
    }),
  )
  .optional();
const condition = entity('FieldCondition', {
  all: tests.describe('Tests that must all hold.'),
  any: tests.describe('Tests of which one must hold.'),
}).optional();

const field = entity('DocumentField', {
  id: identity,
  name: shown(z.string(), 'Identifies the field in values and webhooks.', 'city'),
  type: z.enum(FIELD_TYPES).describe('Kind of value.'),
  label: shown(z.string(), 'Text that people read.', 'City'),
  required: z.boolean().describe('Whether the participant cannot sign without a value. Default false.'),
  topLeftX: shown(z.number().nullable(), 'Distance of the box from the left edge of the page, points.', 72),
  topLeftY: shown(z.number().nullable(), 'Distance of the box from the top edge of the page, points.', 600),
  width: shown(z.number().nullable(), 'Width of the box, points (1/72 inch).', 180),
  height: shown(z.number().nullable(), 'Height of the box, points (1/72 inch).', 60),
  pageNumber: shownPage,
  formField: shown(
    z.string().nullable(),
    'Name of the field in the PDF’s own form (AcroForm) that gives place and type. Absent: the coordinates do.',
    'City',
  ),
  maxLength: shown(z.int(), 'Most characters of the value, up to 2,000. Default 500.', 100),
  format: z.enum(FIELD_FORMATS).nullable().describe('Rule that the text must follow. Null: any text.'),
  minimum: shown(z.number().nullable(), 'Least number that is accepted. Absent: any.', 0),
  maximum: shown(z.number().nullable(), 'Greatest number that is accepted. Absent: any.', 1000),
  options: shown(z.array(z.string()), 'Values of a choice; empty for other types.', ['Lisbon', 'Porto']),
  value: shown(z.string().nullable(), 'Filled in by the participant; null until then.', 'Lisbon'),
  presetValue: shown(z.string().nullable(), 'Filled in by the sender; null: nothing.', 'Lisbon'),
  readOnly: z.boolean().describe('True: the participant cannot change the value of the sender.'),
  shownWhen: condition.describe('When the field is shown. Left out: always.'),
  requiredWhen: condition.describe('When the field must have a value. Left out: as `required` says.'),
  hidden: z
    .boolean()
    .optional()
    .describe('Whether its condition has hidden it. Left out before the participant acts, and without one.'),
});

export const flowAction = entity('FlowAction', {
  id: identity,
  type: z.enum(ACTION_TYPES).describe('Kind of action: of one person, or of several by a rule.'),
  status: z
    .enum(ACTION_STATUSES)
    .describe(
      '`Created`: an earlier step is not completed; `Pending`: the participant can act; `Skipped`: `takesPartWhen` did not hold.',
    ),
  step: shown(z.int(), 'Place in the order, from 0; actions of the same step act in parallel. Default 0.', 1),
  user: participant.nullable().describe('Participant. Null for rules.'),
  title: shown(
    z.string().nullable(),
    'Role of the participant, shown on pages and used by saved flows.',
    'Tenant',
  ),
  allowElectronicSignature: shown(
    z.boolean(),
    'Whether the participant may sign without a certificate.',
    true,
  ),
  creationDate,
  updateDate,
  pendingDate: time.nullable().describe('Time from which the participant could act. Null: not yet.'),
  refusalReason: shown(
    z.string().nullable(),
    'Why the participant refused. Null: not refused.',
    'The price has changed.',
  ),
  isElectronic: z
    .boolean()
    .nullable()
    .describe('Whether the action was done without a certificate. Null: not done, or an approval.'),
  marks: z.array(mark).describe('Places of signature and initials.'),
  ruleName: shown(
    z.string().nullable(),
    'Name of the rule, such as of a board. Required for `SignRule` and `ApproverRule`.',
    'Board of directors',
  ),
  numberRequiredSignatures: shown(
    z.int(),
    'How many people of a rule must act. Required for `SignRule`; for `ApproverRule` the default is 1. Ignored for others.',
    2,
  ),
  allowRuleFlowToContinueIfRefused: z
    .boolean()
    .describe(
      'For rules: the flow goes on while enough other people of the rule can still act. Default false: one refusal refuses the document.',
    ),
  signRuleUsers: z
    .array(ruleUser)
    .describe('People of a rule with their signatures and refusals. Empty for single participants.'),
  allowPassingOn: z
    .boolean()
    .describe('Whether the participant may hand the action on to another person, who acts instead.'),
  passedOn: z
    .array(
      entity('PassedOn', {
        name: shown(z.string().nullable(), 'Person who has handed the action on.', 'Ana Silva'),
        email: shown(z.string().nullable(), 'E-mail address of that person.', 'ana@example.com'),
        reason: shown(z.string(), 'Why.', 'I am on leave.'),
        date: time.describe('Time at which it was handed on.'),
      }),
    )
    .describe('People who had the action before, oldest first.'),
  deputy: entity('ActingDeputy', {
    name: shown(z.string(), 'Full name.', 'Lou Lima'),
    email: shown(z.string(), 'E-mail address.', 'lou@example.com'),
    reason: shown(z.string(), 'Why, as the participant has said.', 'I am on leave.'),
  })
    .optional()
    .describe('Deputy who has acted in place of the participant. Left out where there is none.'),
  ...confirmationFlags(() => z.boolean().meta(CONFIRMATION)),
  requireEmailAuthenticationToSignElectronically: z
    .boolean()
    .describe('Whether an electronic signature needs a code of six digits by e-mail.'),
  disableEmailAuthenticationToSignElectronically: z
    .boolean()
    .describe('Whether an electronic signature needs no code by e-mail.'),
  requiredCertificateTypeToSign: z
    .enum(CERTIFICATE_TYPES)
    .nullable()
    .describe('Type of the certificate. Null: any. Ignored for electronic signatures.'),
  requiredCertificateHolderTypeToSign: z
    .enum(HOLDER_TYPES)
    .nullable()
    .describe('Holder that the certificate must have. Null: any. Ignored for electronic signatures.'),
  requireCompanyCertificate: z
    .boolean()
    .nullable()
    .describe('Whether only a certificate that names a company is accepted. Default false.'),
  requiredCompanyIdentifier: shown(
    z.string().nullable(),
    'Number of the company that the certificate must have. Null: any.',
    '11222333000181',
  ),
  signatureInitialsMode: z
    .enum(INITIALS_MODES)
    .nullable()
    .describe(
      'Whether the participant puts initials on each page, of which a document then has at most 999. Null: `None`.',
    ),
  takesPartWhen: condition.describe('When the action takes part. Left out: always.'),
  fields: z.array(field).optional().describe('Left out where the participant has none.'),
});

export type FlowActionView = Value<typeof flowAction>;
export type MarkView = Value<typeof mark>;
export type RuleUserView = Value<typeof ruleUser>;
