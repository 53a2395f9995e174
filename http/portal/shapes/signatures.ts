/**
 * Validation records and signatures in replies.
 *
 * Source: docs/portal-values.md §17.
 */

import { z } from 'zod';
import type { SignatureView, TimestampView, ValidationRecord } from '../../../actors/portal/api.ts';
import { id } from '../../../contracts/fields.ts';
import { documentStatus } from '../../../contracts/portal/documents.ts';
import { createdBy } from '../../../contracts/portal/entities.ts';
import { validationResults } from '../../../contracts/portal/signing/validation.ts';
import { isoTime, isoTimeOrNull } from '../../../contracts/times.ts';
import { createdByBody, timestamp } from './shared-shapes.ts';

const timestampTokenShape = z
  .strictObject({
    displayName: z.string(),
    genTime: timestamp,
    validityStart: timestamp.nullable(),
    validityEnd: timestamp.nullable(),
  })
  .meta({ id: 'SignatureTimestamp' });

function timestampTokenBody(token: TimestampView): z.infer<typeof timestampTokenShape> {
  return {
    displayName: token.displayName,
    genTime: isoTime(token.genTime),
    validityStart: isoTimeOrNull(token.validityStart),
    validityEnd: isoTimeOrNull(token.validityEnd),
  };
}

export const signatureShape = z
  .strictObject({
    subjectName: z.string(),
    emailAddress: z.string().nullable(),
    issuerName: z.string(),
    identifier: z.string().nullable(),
    companyName: z.string().nullable(),
    companyIdentifier: z.string().nullable(),
    isElectronic: z.boolean(),
    isTimestamp: z.boolean(),
    signingTime: timestamp.nullable(),
    certificateThumbprint: z.string().describe('SHA-256 of the certificate, Base64.'),
    validityStart: timestamp.nullable(),
    validityEnd: timestamp.nullable(),
    signatureTimestamps: z.array(timestampTokenShape),
    archiveTimestamps: z.array(timestampTokenShape),
    attributeCertificates: z.array(z.strictObject({ details: z.string(), issuer: z.string() })),
    evidences: z.looseObject({}).nullable().describe('Of electronic signatures that were made here.'),
    validationResults: validationResults,
  })
  .meta({ id: 'Signature' });

export function signatureBody(signature: SignatureView): z.infer<typeof signatureShape> {
  return {
    subjectName: signature.subjectName,
    emailAddress: signature.emailAddress,
    issuerName: signature.issuerName,
    identifier: signature.identifier,
    companyName: signature.companyName,
    companyIdentifier: signature.companyIdentifier,
    isElectronic: signature.isElectronic,
    isTimestamp: signature.isTimestamp,
    signingTime: isoTimeOrNull(signature.signingTime),
    certificateThumbprint: signature.certificateThumbprint,
    validityStart: isoTimeOrNull(signature.validityStart),
    validityEnd: isoTimeOrNull(signature.validityEnd),
    signatureTimestamps: signature.signatureTimestamps.map(timestampTokenBody),
    archiveTimestamps: signature.archiveTimestamps.map(timestampTokenBody),
    attributeCertificates: [],
    evidences: signature.evidences,
    validationResults: signature.validationResults,
  };
}

export const validationRecordShape = z
  .strictObject({
    id,
    name: z.string(),
    filename: z.string(),
    mimeType: z.string(),
    isConcluded: z.boolean(),
    status: documentStatus,
    creationDate: timestamp,
    updateDate: timestamp,
    createdBy: createdBy,
    isEnvelope: z.boolean(),
    isFile: z.boolean(),
    type: z.string().nullable(),
    signatureType: z.string().nullable(),
    securityContext: z.null(),
    signers: z.array(signatureShape),
  })
  .meta({ id: 'ValidationRecord' });

export function validationRecordBody(record: ValidationRecord): z.infer<typeof validationRecordShape> {
  return {
    id: record.id,
    name: record.name,
    filename: record.filename,
    mimeType: record.mimeType,
    isConcluded: record.status === 'Concluded',
    status: record.status,
    creationDate: isoTime(record.creationDate),
    updateDate: isoTime(record.updateDate),
    createdBy: createdByBody(record.createdBy),
    isEnvelope: record.isEnvelope,
    isFile: record.isFile,
    type: record.type,
    signatureType: record.signatureType,
    securityContext: null,
    signers: record.signers.map(signatureBody),
  };
}
