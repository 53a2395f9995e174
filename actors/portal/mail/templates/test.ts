/** Mail that an administrator sends to the own address, to see whether mails arrive. */
import type { MailTextOf } from './mail-texts.ts';

export const TEST: MailTextOf<{ readonly organization: string }> = {
  en: ({ organization }) => ({
    subject: `Test mail of ${organization}`,
    paragraphs: [
      'You asked for this test mail on the organization page. Mails of the portal reach this address.',
    ],
  }),
  pt: ({ organization }) => ({
    subject: `E-mail de teste de ${organization}`,
    paragraphs: ['Você pediu este e-mail na página da organização. Os e-mails do portal chegam.'],
  }),
  es: ({ organization }) => ({
    subject: `Correo de prueba de ${organization}`,
    paragraphs: ['Usted pidió este correo en la página de la organización. Los correos del portal llegan.'],
  }),
};
