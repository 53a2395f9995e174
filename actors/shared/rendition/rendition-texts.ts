/** The words of drawn versions, in the languages of the portal. Times are UTC, and the participant's where known. */

import type { Millis } from '../../../machines/ids.ts';
import type { DocumentState } from '../../../machines/portal/document/document-context.ts';
import type { Language } from '../../../machines/portal/organization.ts';
import type { CompletedAction } from '../../../machines/portal/portal-types.ts';
import type { RenditionEventType } from './rendition-model.ts';

export interface RenditionTexts {
  readonly manifest: string;
  readonly document: string;
  readonly file: string;
  readonly files: string;
  /** Below a signed file of an envelope; the hole is the number of its signatures. */
  readonly signedOriginal: string;
  readonly organization: string;
  readonly createdBy: string;
  readonly created: string;
  readonly status: string;
  readonly reason: string;
  readonly key: string;
  readonly original: string;
  readonly people: string;
  readonly history: string;
  readonly events: { readonly [type in RenditionEventType]: string };
  /** Below a history that is not shown to its end; the hole is a number of entries. */
  readonly omitted: string;
  readonly kinds: { readonly [kind in CompletedAction['kind']]: string };
  readonly states: { readonly [state in DocumentState]: string };
  readonly identifier: string;
  readonly email: string;
  readonly capacity: string;
  readonly time: string;
  readonly address: string;
  readonly agent: string;
  readonly confirmation: string;
  readonly byCode: string;
  readonly byApplication: string;
  readonly typedName: string;
  readonly place: string;
  readonly evidence: string;
  readonly certificate: string;
  readonly sealedBy: string;
  readonly issuer: string;
  readonly thumbprint: string;
  readonly timestamp: string;
  /** Place where a name has letters that can only be drawn as boxes. */
  readonly letters: string;
  readonly boxes: string;
  /** Below each page. */
  readonly footer: string;
  readonly signedBy: string;
  /** As the reason of a signature. */
  readonly signedElectronicallyBy: string;
  /** Way in which to check. */
  readonly check: string;
  readonly page: string;
}

const ENGLISH: RenditionTexts = {
  manifest: 'Signature manifest',
  document: 'Document',
  file: 'File',
  files: 'Files',
  signedOriginal:
    'Was signed before. Number of its signatures: {}. This document does not contain them; the signed file is an attachment of it.',
  organization: 'Organization',
  createdBy: 'Created by',
  created: 'Created',
  status: 'Status',
  reason: 'Reason',
  key: 'Validation key',
  original: 'SHA-256 of the original',
  people: 'Signatures and approvals',
  history: 'History',
  events: {
    Created: 'Created',
    Mailed: 'E-mail requested',
    MailDelivered: 'E-mail taken by the mail server',
    MailRefused: 'E-mail refused',
    Opened: 'Opened',
    Viewed: 'Viewed to the end',
    CodeSent: 'Code sent',
    WrongCode: 'Wrong code',
    Signed: 'Signed',
    Approved: 'Approved',
    Refused: 'Refused',
    Edited: 'Changed',
    Reminded: 'Reminded',
    Canceled: 'Canceled',
    Expired: 'Expired',
    Concluded: 'Concluded',
  },
  omitted: 'Further entries of the history: {}.',
  kinds: {
    electronic: 'Electronic signature',
    certificate: 'Signature with a certificate',
    approval: 'Approval',
  },
  states: {
    Pending: 'In progress',
    FlowConcluded: 'In progress',
    Concluded: 'Concluded',
    Refused: 'Refused',
    Canceled: 'Canceled',
    Expired: 'Expired',
    Deleted: 'Deleted',
  },
  identifier: 'Identifier',
  email: 'E-mail',
  capacity: 'Capacity',
  time: 'Time',
  address: 'IP address',
  agent: 'Program',
  confirmation: 'Confirmed by',
  byCode: 'a code sent to {}',
  byApplication: 'the application {}',
  typedName: 'Name typed',
  place: 'Place',
  evidence: 'SHA-256 of the evidence',
  certificate: 'Certificate',
  sealedBy: 'Sealed with the certificate of',
  issuer: 'Issued by',
  thumbprint: 'SHA-256 of the certificate',
  timestamp: 'Time-stamp',
  letters: 'Letters of the name',
  boxes:
    'A box stands for a letter that the font of this page has not. Copied or read aloud, the text has the letter itself.',
  footer: 'Signed document. Validation key {}. Check it at {}',
  signedBy: 'Signed by {}',
  signedElectronicallyBy: 'Signed electronically by {}.',
  check: 'To check this document, open the address below or scan the code, and compare what is shown there.',
  page: 'Page {} of {}',
};

const PORTUGUESE: RenditionTexts = {
  manifest: 'Manifesto de assinaturas',
  document: 'Documento',
  file: 'Arquivo',
  files: 'Arquivos',
  signedOriginal:
    'Já estava assinado. Número de assinaturas: {}. Este documento não as contém; o arquivo assinado é um anexo dele.',
  organization: 'Organização',
  createdBy: 'Criado por',
  created: 'Criado em',
  status: 'Situação',
  reason: 'Motivo',
  key: 'Chave de validação',
  original: 'SHA-256 do original',
  people: 'Assinaturas e aprovações',
  history: 'Histórico',
  events: {
    Created: 'Criado',
    Mailed: 'E-mail solicitado',
    MailDelivered: 'E-mail aceito pelo servidor',
    MailRefused: 'E-mail recusado',
    Opened: 'Aberto',
    Viewed: 'Visto até o fim',
    CodeSent: 'Código enviado',
    WrongCode: 'Código errado',
    Signed: 'Assinado',
    Approved: 'Aprovado',
    Refused: 'Recusado',
    Edited: 'Alterado',
    Reminded: 'Lembrete enviado',
    Canceled: 'Cancelado',
    Expired: 'Expirado',
    Concluded: 'Concluído',
  },
  omitted: 'Outras entradas do histórico: {}.',
  kinds: {
    electronic: 'Assinatura eletrônica',
    certificate: 'Assinatura com certificado',
    approval: 'Aprovação',
  },
  states: {
    Pending: 'Em andamento',
    FlowConcluded: 'Em andamento',
    Concluded: 'Concluído',
    Refused: 'Recusado',
    Canceled: 'Cancelado',
    Expired: 'Expirado',
    Deleted: 'Excluído',
  },
  identifier: 'Identificador',
  email: 'E-mail',
  capacity: 'Na qualidade de',
  time: 'Horário',
  address: 'Endereço IP',
  agent: 'Programa',
  confirmation: 'Confirmado por',
  byCode: 'código enviado para {}',
  byApplication: 'aplicação {}',
  typedName: 'Nome digitado',
  place: 'Local',
  evidence: 'SHA-256 das evidências',
  certificate: 'Certificado',
  sealedBy: 'Selado com o certificado de',
  issuer: 'Emitido por',
  thumbprint: 'SHA-256 do certificado',
  timestamp: 'Carimbo do tempo',
  letters: 'Letras do nome',
  boxes:
    'Um quadrado representa uma letra que a fonte desta página não tem. Copiado ou lido em voz alta, o texto tem a própria letra.',
  footer: 'Documento assinado. Chave de validação {}. Verifique em {}',
  signedBy: 'Assinado por {}',
  signedElectronicallyBy: 'Assinado eletronicamente por {}.',
  check: 'Para verificar este documento, abra o endereço abaixo ou leia o código e compare o que é exibido.',
  page: 'Página {} de {}',
};

const SPANISH: RenditionTexts = {
  manifest: 'Manifiesto de firmas',
  document: 'Documento',
  file: 'Archivo',
  files: 'Archivos',
  signedOriginal:
    'Ya estaba firmado. Número de firmas: {}. Este documento no las contiene; el archivo firmado es un adjunto suyo.',
  organization: 'Organización',
  createdBy: 'Creado por',
  created: 'Creado',
  status: 'Estado',
  reason: 'Motivo',
  key: 'Clave de validación',
  original: 'SHA-256 del original',
  people: 'Firmas y aprobaciones',
  history: 'Historial',
  events: {
    Created: 'Creado',
    Mailed: 'Correo solicitado',
    MailDelivered: 'Correo aceptado por el servidor',
    MailRefused: 'Correo rechazado',
    Opened: 'Abierto',
    Viewed: 'Visto hasta el final',
    CodeSent: 'Código enviado',
    WrongCode: 'Código incorrecto',
    Signed: 'Firmado',
    Approved: 'Aprobado',
    Refused: 'Rechazado',
    Edited: 'Modificado',
    Reminded: 'Recordatorio enviado',
    Canceled: 'Cancelado',
    Expired: 'Vencido',
    Concluded: 'Concluido',
  },
  omitted: 'Otras entradas del historial: {}.',
  kinds: {
    electronic: 'Firma electrónica',
    certificate: 'Firma con certificado',
    approval: 'Aprobación',
  },
  states: {
    Pending: 'En curso',
    FlowConcluded: 'En curso',
    Concluded: 'Concluido',
    Refused: 'Rechazado',
    Canceled: 'Cancelado',
    Expired: 'Vencido',
    Deleted: 'Eliminado',
  },
  identifier: 'Identificador',
  email: 'Correo',
  capacity: 'En calidad de',
  time: 'Hora',
  address: 'Dirección IP',
  agent: 'Programa',
  confirmation: 'Confirmado por',
  byCode: 'código enviado a {}',
  byApplication: 'la aplicación {}',
  typedName: 'Nombre escrito',
  place: 'Lugar',
  evidence: 'SHA-256 de las evidencias',
  certificate: 'Certificado',
  sealedBy: 'Sellado con el certificado de',
  issuer: 'Emitido por',
  thumbprint: 'SHA-256 del certificado',
  timestamp: 'Sello de tiempo',
  letters: 'Letras del nombre',
  boxes:
    'Un cuadrado representa una letra que la fuente de esta página no tiene. Copiado o leído en voz alta, el texto tiene la letra misma.',
  footer: 'Documento firmado. Clave de validación {}. Compruébelo en {}',
  signedBy: 'Firmado por {}',
  signedElectronicallyBy: 'Firmado electrónicamente por {}.',
  check:
    'Para comprobar este documento, abra la dirección de abajo o escanee el código y compare lo que se muestra.',
  page: 'Página {} de {}',
};

export const RENDITION_TEXTS: { readonly [language in Language]: RenditionTexts } = {
  en: ENGLISH,
  pt: PORTUGUESE,
  es: SPANISH,
};

/** Puts values into the holes of a phrase, in order. */
export function filled(phrase: string, ...values: readonly (string | number)[]): string {
  let index = 0;
  return phrase.replace(/\{\}/g, () => String(values[index++] ?? ''));
}

/** `2026-11-21 10:40:12 UTC`. */
export function utcText(at: Millis): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** With the time on the participant's own clock behind it. @param offset minutes from UTC */
export function timeText(at: Millis, offset: number | null): string {
  if (offset === null || offset === 0 || Math.abs(offset) > 24 * 60) return utcText(at);
  const local = new Date(at + offset * 60_000).toISOString().slice(0, 19).replace('T', ' ');
  const minutes = Math.abs(offset);
  const zone = `${offset < 0 ? '-' : '+'}${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  return `${utcText(at)} (${local} UTC${zone})`;
}

/** A validation key as people read it: in groups of five. */
export function keyText(key: string): string {
  return key.replace(/.{5}(?=.)/g, '$&-');
}

/** Everything that is written in a mark, line by line: what the signature itself shows. */
export function markTexts(
  language: Language,
  {
    name,
    title,
    kind,
    at,
    key,
  }: {
    readonly name: string;
    readonly title: string | null;
    readonly kind: CompletedAction['kind'];
    readonly at: Millis;
    readonly key: string;
  },
): readonly string[] {
  const words = RENDITION_TEXTS[language];
  return [name, ...(title === null ? [] : [title]), words.kinds[kind], utcText(at), keyText(key)];
}
