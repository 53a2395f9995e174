/** Mail with the link by which a user signs in to the pages of the portal. */
import type { MailTextOf } from './mail-texts.ts';

export const SIGN_IN: MailTextOf<{ readonly organization: string; readonly minutes: number }> = {
  en: ({ organization, minutes }) => ({
    subject: `Your link to sign in to ${organization}`,
    paragraphs: [
      `This link signs you in once. It is valid for ${minutes} minutes.`,
      'If you did not ask for it, ignore this message and give the link to nobody.',
    ],
    button: 'Sign in',
  }),
  pt: ({ organization, minutes }) => ({
    subject: `Seu link para entrar em ${organization}`,
    paragraphs: [
      `Este link permite entrar uma única vez. Ele vale por ${minutes} minutos.`,
      'Se você não o solicitou, ignore esta mensagem e não informe o link a ninguém.',
    ],
    button: 'Entrar',
  }),
  es: ({ organization, minutes }) => ({
    subject: `Su enlace para entrar en ${organization}`,
    paragraphs: [
      `Este enlace permite entrar una sola vez. Es válido durante ${minutes} minutos.`,
      'Si no lo ha solicitado, ignore este mensaje y no entregue el enlace a nadie.',
    ],
    button: 'Entrar',
  }),
};
