/** Frame around the text of every mail. */
import type { Language } from '../../../../machines/portal/organization.ts';

export interface FrameTexts {
  greeting(name: string | null): string;
  footer(organization: string): string;
}

export const FRAME: { readonly [Each in Language]: FrameTexts } = {
  en: {
    greeting: (name) => (name ? `Hello ${name},` : 'Hello,'),
    footer: (organization) =>
      `This message was sent automatically for ${organization}. It is meant for you alone: do not pass it on.`,
  },
  pt: {
    greeting: (name) => (name ? `Olá, ${name},` : 'Olá,'),
    footer: (organization) =>
      `Esta mensagem foi enviada automaticamente em nome de ${organization}. Ela é pessoal: não a encaminhe.`,
  },
  es: {
    greeting: (name) => (name ? `Hola, ${name}:` : 'Hola:'),
    footer: (organization) =>
      `Este mensaje se envió automáticamente en nombre de ${organization}. Es personal: no lo reenvíe.`,
  },
};
