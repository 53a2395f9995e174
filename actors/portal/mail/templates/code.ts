/** Mail with the six-digit code that proves the e-mail address at signing. */
import type { MailDocument, MailTextOf } from './mail-texts.ts';

/** @remarks the code itself is shown by the letter, below the paragraphs */
export const CODE: MailTextOf<MailDocument & { readonly minutes: number }> = {
  en: ({ document, minutes }) => ({
    subject: `Your code to sign: ${document}`,
    paragraphs: [
      `Type this code on the signing page of the document "${document}". It is good for ${minutes} minutes.`,
      'If you did not ask for it, ignore this message and give the code to nobody.',
    ],
  }),
  pt: ({ document, minutes }) => ({
    subject: `Seu código para assinar: ${document}`,
    paragraphs: [
      `Digite este código na página de assinatura do documento "${document}". Ele vale por ${minutes} minutos.`,
      'Se você não o solicitou, ignore esta mensagem e não informe o código a ninguém.',
    ],
  }),
  es: ({ document, minutes }) => ({
    subject: `Su código para firmar: ${document}`,
    paragraphs: [
      `Escriba este código en la página de firma del documento "${document}". Es válido durante ${minutes} minutos.`,
      'Si no lo ha solicitado, ignore este mensaje y no entregue el código a nadie.',
    ],
  }),
};
